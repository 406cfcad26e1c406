import { Injectable } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { DataSource } from 'typeorm';
import { primaryPool, unlessBusy } from '../database/reading.js';

/** A client with its tokens, as its credentials are checked against. */
export interface KnownClient {
  readonly clientID: string;
  readonly disabled: boolean;
  /** Requests a minute, 0 for no limit; null: as the service is set. */
  readonly rateLimit: number | null;
  readonly tokens: readonly { readonly hash: Buffer; readonly expiresAt: Date | null }[];
}

interface Entry {
  readonly client: KnownClient;
  /** When the database was asked, on the monotonic clock, in milliseconds. */
  readonly asOf: number;
}

/** Milliseconds after which an entry is read again beside the request that used it. */
const REFRESH_AFTER = 4000;
/** Milliseconds after which an entry is no longer used. What was revoked ends within ten seconds. */
const DISCARD_AFTER = 9000;
const MOST_ENTRIES = 10_000;

/**
 * The clients that asked lately. A client that keeps asking never waits for the database here: its
 * entry is renewed in the background before it is too old to be used.
 */
@Injectable()
export class KnownClients {
  private readonly entries = new Map<string, Entry>();
  private readonly lookups = new Map<string, Promise<Entry | undefined>>();

  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  /**
   * What `pick` finds in a client as it was at most nine seconds ago, else in the client as it is
   * now, since a token may be newer than what is known; `undefined` also for an unknown client.
   */
  async find<T>(
    clientID: string,
    pick: (client: KnownClient) => T | undefined,
  ): Promise<T | undefined> {
    const entry = this.entries.get(clientID);
    const age = entry ? performance.now() - entry.asOf : Infinity;
    const found = entry && age <= DISCARD_AFTER ? pick(entry.client) : undefined;
    if (found === undefined) {
      const now = await this.lookUp(clientID);
      return now && pick(now.client);
    }
    if (age > REFRESH_AFTER) {
      // While the database is away the entry serves until it is too old.
      this.lookUp(clientID).catch(() => undefined);
    }
    return found;
  }

  /** Asks the database, once for all who ask for the same client at the same time. */
  private lookUp(clientID: string): Promise<Entry | undefined> {
    let lookup = this.lookups.get(clientID);
    if (!lookup) {
      lookup = this.read(clientID).finally(() => this.lookups.delete(clientID));
      this.lookups.set(clientID, lookup);
    }
    return lookup;
  }

  private async read(clientID: string): Promise<Entry | undefined> {
    const asOf = performance.now();
    const text = `SELECT client.disabled, client."rateLimit", token.hash, token."expiresAt"
       FROM clients client LEFT JOIN access_tokens token USING ("clientID")
       WHERE "clientID" = $1`;
    // Not of a replica, which may not know yet that a token was revoked.
    const { rows } = await unlessBusy(primaryPool(this.dataSource), (pool) =>
      pool.query<Row>(text, [clientID]),
    );
    this.entries.delete(clientID);
    const [first] = rows;
    if (!first) return undefined;
    const { disabled, rateLimit } = first;
    const tokens = rows.flatMap(({ hash, expiresAt }) => (hash ? [{ hash, expiresAt }] : []));
    const entry = { client: { clientID, disabled, rateLimit, tokens }, asOf };
    this.entries.set(clientID, entry);
    const [oldest] = this.entries.keys();
    if (oldest !== undefined && this.entries.size > MOST_ENTRIES) this.entries.delete(oldest);
    return entry;
  }
}

interface Row {
  disabled: boolean;
  rateLimit: number | null;
  hash: Buffer | null;
  expiresAt: Date | null;
}
