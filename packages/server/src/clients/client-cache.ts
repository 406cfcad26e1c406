import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ReadPool } from '../database/read-pool.js';
import { Rights, type ScopeClient } from '../resource/visibility.js';

/** A client and its tokens, as far as authentication and rate limits need them. */
export interface KnownClient extends ScopeClient {
  readonly disabled: boolean;
  /** Requests per minute; 0: no limit; null: the default, `RATE_LIMIT_PER_MINUTE`. */
  readonly rateLimit: number | null;
  readonly tokens: readonly {
    readonly hash: Buffer;
    /** `performance.now()` value until which it is good. `Infinity`: it does not expire. */
    readonly goodUntil: number;
  }[];
}

/** Clients as read from the database. */
interface Reading {
  /** Undefined for one that does not exist. */
  readonly clients: ReadonlyMap<string, KnownClient | undefined>;
  /** `performance.now()` value before the query: later changes may be missing. */
  readonly asOf: number;
}

interface Batch {
  readonly clientIDs: Set<string>;
  readonly reading: Promise<Reading>;
}

/** Maximum age of an entry in milliseconds. Revoked tokens must be rejected within ten seconds. */
const MAX_AGE = 5000;
const MAX_ENTRIES = 10_000;
/** Maximum milliseconds for which a statement waits for the previous one. */
const MAX_WAIT = 50;
/** Minimum milliseconds of an unsuccessful lookup: they hide that a query takes longer for a client that exists. */
const MIN_FAILURE_TIME = 10;

/** Stands in for an unknown client, so that the lookup does the same work as for a wrong token. */
const PLACEHOLDER: KnownClient = {
  clientID: '',
  disabled: true,
  rateLimit: null,
  tokens: [{ hash: randomBytes(32), goodUntil: -Infinity }],
};

/**
 * Client records for authentication. They are read in batches: a statement reads all that were requested while the
 * previous one ran, and starts after 50 ms even if that still runs. So any number of concurrent logins, also failed
 * ones, usually takes one connection.
 */
@Injectable()
export class ClientCache {
  private readonly entries = new LRUCache<string, { client: KnownClient; asOf: number }>({
    max: MAX_ENTRIES,
  });
  private next: Batch | undefined;
  private previous: Promise<unknown> = Promise.resolve();

  constructor(private readonly reads: ReadPool) {}

  /**
   * The result of `pick` on the record of a client, which is at most five seconds old. If `pick` finds nothing, the
   * record is read again, since a token may be newer. An unsuccessful lookup takes the same time and the same work
   * whether the client exists or not: `pick` gets a placeholder, whose token matches nothing.
   *
   * @throws PoolOverloadedError, or an error of the driver, if the record cannot be read
   */
  async find<T>(
    clientID: string,
    pick: (client: KnownClient) => T | undefined,
  ): Promise<T | undefined> {
    const entry = this.entries.get(clientID);
    const isFresh = entry !== undefined && performance.now() - entry.asOf <= MAX_AGE;
    const found = pick(isFresh ? entry.client : PLACEHOLDER);
    if (found !== undefined) return found;
    // Started before the query whose duration it hides.
    const minimum = sleep(MIN_FAILURE_TIME);
    const foundNow = pick((await this.read(clientID)) ?? PLACEHOLDER);
    if (foundNow === undefined) await minimum;
    return foundNow;
  }

  /**
   * The record of a client; `undefined` if it does not exist. The statement starts after this call, so that the record
   * has all earlier changes.
   *
   * @throws PoolOverloadedError, or an error of the driver
   */
  async read(clientID: string): Promise<KnownClient | undefined> {
    this.next ??= this.batch();
    const { clientIDs, reading } = this.next;
    clientIDs.add(clientID);
    const { clients, asOf } = await reading;
    const client = clients.get(clientID);
    const cached = this.entries.get(clientID);
    // Of two concurrent reads, the earlier one may finish later. It must not replace the newer entry.
    if (cached && cached.asOf > asOf) return client;
    if (client) this.entries.set(clientID, { client, asOf });
    else this.entries.delete(clientID);
    return client;
  }

  private batch(): Batch {
    const clientIDs = new Set<string>();
    const reading = this.previous.then(() => {
      this.next = undefined;
      const result = this.query([...clientIDs]);
      const settled = result.catch(() => undefined);
      this.previous = Promise.race([settled, sleep(MAX_WAIT, undefined, { ref: false })]);
      return result;
    });
    return { clientIDs, reading };
  }

  private async query(clientIDs: string[]): Promise<Reading> {
    const asOf = performance.now();
    // Returns a row for an unknown client too, so that its lookup takes the same work.
    const text = `SELECT asked, client.disabled, client."rateLimit", client.resources, client.hidden,
         client."isPublic", token.hash, CASE WHEN "expiresAt" IS NULL THEN 'infinity'
           ELSE date_part('epoch', "expiresAt") - date_part('epoch', clock_timestamp()) END AS lifetime
       FROM unnest($1::varchar[]) asked
       LEFT JOIN clients client ON client."clientID" = asked
       LEFT JOIN access_tokens token ON token."clientID" = client."clientID"`;
    // A replica may not have replayed the revocation of a token yet.
    const { rows } = await this.reads
      .of('primary first')
      .read((pool) => pool.query<Row>({ name: 'clients', text, values: [clientIDs] }));
    const rowsOf = new Map(clientIDs.map((clientID): [string, Row[]] => [clientID, []]));
    for (const row of rows) rowsOf.get(row.asked)?.push(row);
    const clients = new Map(Array.from(rowsOf, ([id, own]) => [id, clientOf(id, own, asOf)]));
    return { clients, asOf };
  }
}

function clientOf(clientID: string, rows: readonly Row[], asOf: number): KnownClient | undefined {
  const [row] = rows;
  if (row?.disabled === undefined || row.disabled === null) return undefined;
  const { disabled, rateLimit, resources, hidden, isPublic } = row;
  const rights = new Rights(resources, hidden ?? [], isPublic ?? false);
  const tokens = rows.flatMap(({ hash, lifetime }) =>
    hash ? [{ hash, goodUntil: asOf + 1000 * lifetime }] : [],
  );
  return { clientID, disabled, rateLimit, rights, tokens };
}

interface Row {
  readonly asked: string;
  /** Null if the client does not exist. */
  readonly disabled: boolean | null;
  readonly rateLimit: number | null;
  readonly resources: readonly string[] | null;
  readonly hidden: readonly string[] | null;
  readonly isPublic: boolean | null;
  readonly hash: Buffer | null;
  /** Seconds until the token expires, by the clock of the database. */
  readonly lifetime: number;
}
