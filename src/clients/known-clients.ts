import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientReader, type KnownClient, type Reading } from './client-reader.js';

/** Milliseconds after which an entry is read again beside the request that used it. */
const REFRESH_AFTER = 4000;
/** Milliseconds after which an entry is no longer used. What was revoked ends within ten seconds. */
const DISCARD_AFTER = 9000;
const MOST_ENTRIES = 10_000;
/**
 * Milliseconds that it takes at least to find nothing: longer than the database usually takes, which
 * finds a client a little later than none.
 */
const NOTHING_AFTER = 10;

/** Is looked at where there is no client, so that this takes as long as for one with a wrong token. */
const NOBODY: KnownClient = {
  clientID: '',
  disabled: true,
  rateLimit: null,
  tokens: [{ hash: randomBytes(32), expiresAt: null }],
};

interface Entry extends Reading {
  readonly client: KnownClient;
}

/**
 * The clients that asked lately. A client that keeps asking never waits for the database here: its
 * entry is renewed in the background before it is too old to be used.
 */
@Injectable()
export class KnownClients {
  private readonly entries = new Map<string, Entry>();

  constructor(private readonly reader: ClientReader) {}

  /**
   * What `pick` finds in a client as it was at most nine seconds ago, else in the client as it is
   * now, since a token may be newer than what is known. `undefined` comes at the same time and after
   * the same work for an unknown client as for a known one in which `pick` finds nothing.
   *
   * @param pick is called in place of an unknown client with one whose token nobody has
   */
  async find<T>(
    clientID: string,
    pick: (client: KnownClient) => T | undefined,
  ): Promise<T | undefined> {
    const entry = this.entries.get(clientID);
    const age = entry ? performance.now() - entry.asOf : Infinity;
    const found = pick(entry && age <= DISCARD_AFTER ? entry.client : NOBODY);
    if (found === undefined) return this.findNow(clientID, pick);
    if (age > REFRESH_AFTER) {
      // While the database is away the entry serves until it is too old.
      this.read(clientID).catch(() => undefined);
    }
    return found;
  }

  private async findNow<T>(
    clientID: string,
    pick: (client: KnownClient) => T | undefined,
  ): Promise<T | undefined> {
    // Begins before the work whose duration it hides.
    const over = sleep(NOTHING_AFTER);
    const found = pick((await this.read(clientID)) ?? NOBODY);
    if (found === undefined) await over;
    return found;
  }

  private async read(clientID: string): Promise<KnownClient | undefined> {
    const { client, asOf } = await this.reader.read(clientID);
    const known = this.entries.get(clientID);
    // Of two statements, the earlier one may end later.
    if (known && known.asOf > asOf) return client;
    this.entries.delete(clientID);
    if (!client) return undefined;
    this.entries.set(clientID, { client, asOf });
    const [oldest] = this.entries.keys();
    if (oldest !== undefined && this.entries.size > MOST_ENTRIES) this.entries.delete(oldest);
    return client;
  }
}
