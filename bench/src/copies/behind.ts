import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { inBackground, onPrimary, type Servers } from '../background.js';
import { median } from '../measure.js';
import { BEACON, TABLES } from './tables.js';

/**
 * How far behind copies are: commits a beacon four times a second, and looks twice a second since when there is a commit
 * of it that a copy does not have.
 */
export class Behind {
  /** The acknowledged commits of the beacon. The number of each is the time in milliseconds. */
  private commits: number[] = [];
  /** The last number that each copy had. A copy that is being read again has none, and is behind since this one. */
  private readonly had = new Map<string, number>();
  /** Seconds, of each copy. */
  private readonly samples = new Map<string, number[]>();

  constructor(
    private readonly primary: Servers,
    private readonly copies: pg.Client,
    private readonly names: readonly string[],
  ) {}

  /** The result ends it. */
  start(): () => Promise<void> {
    const ends = [
      onPrimary(this.primary, (client, signal) => this.commit(client, signal)),
      inBackground((signal) => this.sample(signal)),
    ];
    return async () => {
      await Promise.all(ends.map((end) => end()));
    };
  }

  /** Seconds. */
  of(name: string): { median: number; greatest: number } {
    const samples = this.samples.get(name) ?? [];
    return { median: median(samples), greatest: Math.max(0, ...samples) };
  }

  private async commit(client: pg.Client, signal: AbortSignal): Promise<void> {
    const { rows } = await client.query<{ name: string }>(
      `SELECT name FROM public.products WHERE "productID" = '${BEACON}'`,
    );
    // No copy can have what was lost.
    this.commits = this.commits.filter((number) => number <= Number(rows[0]?.name));
    while (!signal.aborted) {
      const number = Date.now();
      const statements = TABLES.map(
        (table) =>
          `UPDATE ${table} SET name = '${number}', "updatedAt" = now() WHERE "productID" = '${BEACON}'`,
      );
      // One transaction.
      await client.query(statements.join(';'));
      this.commits.push(number);
      await sleep(250);
    }
  }

  private async sample(signal: AbortSignal): Promise<void> {
    const text = this.names
      .map(
        (name) => `SELECT '${name}' AS copy, name FROM "${name}" WHERE "productID" = '${BEACON}'`,
      )
      .join(' UNION ALL ');
    while (!signal.aborted) {
      const now = Date.now();
      const { rows } = await this.copies.query<{ copy: string; name: string }>(text);
      for (const name of this.names) {
        const has = Number(rows.find(({ copy }) => copy === name)?.name ?? this.had.get(name));
        this.had.set(name, has);
        const since = this.commits.find((number) => number > has) ?? now;
        const samples = this.samples.get(name) ?? [];
        this.samples.set(name, [...samples, Math.max(0, now - since) / 1000]);
      }
      await sleep(500);
    }
  }
}
