import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClientReader, type ClientRecord, type Reading } from './client-reader.js';

/** Maximum age of an entry in milliseconds. Revoked tokens must be rejected within ten seconds. */
const MAX_AGE = 5000;
const MAX_ENTRIES = 10_000;
/** Minimum milliseconds of an unsuccessful lookup: they hide that a query takes longer for a client that exists. */
const MIN_FAILURE_TIME = 10;

/** Stands in for an unknown client, so that the lookup does the same work as for a wrong token. */
const PLACEHOLDER: ClientRecord = {
  clientID: '',
  disabled: true,
  rateLimit: null,
  tokens: [{ hash: randomBytes(32), goodUntil: -Infinity }],
};

interface Entry extends Reading {
  readonly client: ClientRecord;
}

/** Client records for authentication. */
@Injectable()
export class ClientCache {
  private readonly entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES });

  constructor(private readonly reader: ClientReader) {}

  /**
   * The result of `pick` on the record of a client, which is at most five seconds old. If `pick` finds nothing, the
   * record is read again, since a token may be newer. An unsuccessful lookup takes the same time and the same work
   * whether the client exists or not: `pick` gets a placeholder, whose token matches nothing.
   *
   * @throws PoolOverloadedError, or an error of the driver, if the record cannot be read
   */
  async find<T>(
    clientID: string,
    pick: (client: ClientRecord) => T | undefined,
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

  private async read(clientID: string): Promise<ClientRecord | undefined> {
    const { client, asOf } = await this.reader.read(clientID);
    const cached = this.entries.get(clientID);
    // Of two concurrent reads, the earlier one may finish later. It must not replace the newer entry.
    if (cached && cached.asOf > asOf) return client;
    if (client) this.entries.set(clientID, { client, asOf });
    else this.entries.delete(clientID);
    return client;
  }
}
