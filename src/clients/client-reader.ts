import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { primaryPool, unlessOverloaded } from '../database/read-pool.js';

/** A client with its tokens, as its credentials are checked against. */
export interface KnownClient {
  readonly clientID: string;
  readonly disabled: boolean;
  /** Requests a minute, 0 for no limit; null: as the service is set. */
  readonly rateLimit: number | null;
  readonly tokens: readonly { readonly hash: Buffer; readonly expiresAt: Date | null }[];
}

/** What the database says of a client. */
export interface Reading {
  /** Undefined: there is no such client. */
  readonly client: KnownClient | undefined;
  /** When the database was asked, on the monotonic clock, in milliseconds. */
  readonly asOf: number;
}

interface Batch {
  readonly clientIDs: Set<string>;
  readonly readings: Promise<Map<string, Reading>>;
}

/** Milliseconds after which the next statement no longer waits for the one before it. */
const PATIENCE = 50;

/**
 * Reads clients from the database together: a statement asks for all clients that were wanted while
 * the one before was under way. Where that one is slow, the next begins after 50 ms all the same. So
 * logins, also false ones, usually take one connection, however many there are.
 */
@Injectable()
export class ClientReader {
  private next: Batch | undefined;
  private previous: Promise<unknown> = Promise.resolve();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /** A client as it is after this call. */
  async read(clientID: string): Promise<Reading> {
    this.next ??= this.batch();
    const { clientIDs, readings } = this.next;
    clientIDs.add(clientID);
    const reading = (await readings).get(clientID);
    if (!reading) throw new TypeError('A client that is asked for is one row or more');
    return reading;
  }

  private batch(): Batch {
    const clientIDs = new Set<string>();
    const readings = this.previous.then(() => {
      this.next = undefined;
      const answer = this.ask([...clientIDs]);
      const isOver = answer.catch(() => undefined);
      this.previous = Promise.race([isOver, sleep(PATIENCE, undefined, { ref: false })]);
      return answer;
    });
    return { clientIDs, readings };
  }

  private async ask(clientIDs: string[]): Promise<Map<string, Reading>> {
    const asOf = performance.now();
    // A row for an unknown client too: what follows does not depend on whether there is one.
    const text = `SELECT asked, client.disabled, client."rateLimit", token.hash, token."expiresAt"
       FROM unnest($1::varchar[]) asked
       LEFT JOIN clients client ON client."clientID" = asked
       LEFT JOIN access_tokens token ON token."clientID" = client."clientID"`;
    // Not of a replica, which may not know yet that a token was revoked.
    const { rows } = await unlessOverloaded(primaryPool(this.dataSource), (pool) =>
      pool.query<Row>({ name: 'clients', text, values: [clientIDs] }),
    );
    const rowsOf = new Map(clientIDs.map((clientID): [string, Row[]] => [clientID, []]));
    for (const row of rows) rowsOf.get(row.asked)?.push(row);
    return new Map(
      Array.from(rowsOf, ([clientID, own]) => [
        clientID,
        { client: clientOf(clientID, own), asOf },
      ]),
    );
  }
}

function clientOf(clientID: string, rows: readonly Row[]): KnownClient | undefined {
  const [{ disabled, rateLimit } = { disabled: null, rateLimit: null }] = rows;
  if (disabled === null) return undefined;
  const tokens = rows.flatMap(({ hash, expiresAt }) => (hash ? [{ hash, expiresAt }] : []));
  return { clientID, disabled, rateLimit, tokens };
}

interface Row {
  readonly asked: string;
  /** Null: there is no such client. */
  readonly disabled: boolean | null;
  readonly rateLimit: number | null;
  readonly hash: Buffer | null;
  readonly expiresAt: Date | null;
}
