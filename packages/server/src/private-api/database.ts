import type { Socket } from 'node:net';
import { type ClientBase, type FieldDef, type Pool, Query } from 'pg';
import type { Server as AskedServer } from 'pgpass';
import type { DataSource, EntityMetadata } from 'typeorm';
import { IndexMetadata } from 'typeorm/metadata/IndexMetadata.js';

// What the service uses of pg and TypeORM that they do not document. `test/private-api.spec.ts` fails if an upgrade takes
// one of them away. Any folder may import this file, and no other folder imports what is private.

interface PrivateClient {
  processID: number | null;
  readonly readyForQuery: boolean;
  readonly connectionParameters: Record<string, unknown> & { options?: string | undefined };
  readonly connection: { readonly stream: Socket };
}

function privateOf(client: ClientBase): PrivateClient {
  return client as unknown as PrivateClient;
}

/** The process of the server that serves a connected client. */
export function processIdOf(client: ClientBase): number | null {
  return privateOf(client).processID;
}

/** Corrects the process of a client: a pooler tells a number of its own. */
export function setProcessId(client: ClientBase, processID: number): void {
  privateOf(client).processID = processID;
}

/** What a client sends when it connects: `options` is such as `-c jit=on`, of its URL or of `PGOPTIONS`. */
export function startupOf(client: ClientBase): PrivateClient['connectionParameters'] {
  return privateOf(client).connectionParameters;
}

/** Whether a client waits for no response. */
export function isIdle(client: ClientBase): boolean {
  return privateOf(client).readyForQuery;
}

export function socketOf(client: ClientBase): Socket {
  return privateOf(client).connection.stream;
}

/**
 * Lets a client without a password ask for one when the server does. As an option, the function would give way to the
 * absent password of a URL.
 */
export function askForPassword(
  client: ClientBase & { readonly password?: string | undefined },
  ask: (server: AskedServer) => Promise<string>,
): void {
  Object.assign(client, { password: client.password ?? ask });
}

/**
 * The rows of a statement, with values as text.
 *
 * @param name under which a connection prepares the statement; absent: it does not
 */
export async function textRows<Row>(
  pool: Pool,
  statement: { readonly text: string; readonly name?: string | undefined },
  values: readonly unknown[],
): Promise<Row[]> {
  const query = new TextQuery<Row>(statement.text, statement.name, values);
  // Unlike a client, whose types it shares, a pool returns a promise for any query.
  await (pool.query(query) as unknown as Promise<unknown>);
  return query.found;
}

/**
 * A query that leaves all values as text. It collects the rows itself: for a short query, the result
 * that pg builds, with a parser for each column, costs more than the query.
 */
class TextQuery<Row> extends Query {
  readonly found: Row[] = [];
  private columns: readonly string[] = [];

  constructor(
    text: string,
    readonly name: string | undefined,
    values: readonly unknown[],
  ) {
    // A text and not a configuration object, which pg would clone.
    super(text, values as never);
  }

  /** Called by pg before the first row. */
  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.columns = fields.map(({ name }) => name);
  }

  /** Called by pg for each row. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, string | null> = {};
    this.columns.forEach((name, index) => {
      row[name] = values[index] ?? null;
    });
    this.found.push(row as Row);
  }
}

/** The pool of connections to the primary, which TypeORM manages. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/** Closes the idle connections of a pool that a predicate holds for, before the pool gives them to another query. */
export function removeIdle(pool: Pool, predicate: (client: ClientBase) => boolean): void {
  const { _idle: idle } = pool as unknown as { _idle: readonly { readonly client: ClientBase }[] };
  for (const { client } of [...idle].filter((item) => predicate(item.client))) {
    (pool as unknown as { _remove: (client: ClientBase) => void })._remove(client);
    // The pool waits for the server to end the connection, and it may have stopped responding.
    socketOf(client).destroy();
  }
}

/** Adds an index to a table as TypeORM knows it, so that TypeORM does not drop it. */
export function addIndex(entityMetadata: EntityMetadata, name: string): void {
  const args = { target: entityMetadata.target, name, synchronize: false };
  const index = new IndexMetadata({ entityMetadata, args });
  entityMetadata.indices.push(Object.assign(index, { name }));
}
