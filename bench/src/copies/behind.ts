import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { onPrimary } from '../on-primary.js';
import type { Pair } from './pair.js';
import { BEACON, TABLES } from './tables.js';

/** A commit of the beacon. */
interface Commit {
  readonly number: number;
  /** When it was acknowledged, of `performance.now()`. */
  readonly at: number;
}

/**
 * How far behind copies are: commits a beacon four times a second, and looks twice a second since when there is a commit
 * of it that a copy does not have.
 */
export class Behind {
  private commits: Commit[] = [];
  private next = 1;
  /** The last number that each copy had. A copy that is being read anew has none, and is behind since this one. */
  private readonly had = new Map<string, number>();
  /** Seconds, of each copy. */
  private readonly samples = new Map<string, number[]>();

  constructor(
    private readonly pair: Pair,
    private readonly copies: pg.Client,
    private readonly names: readonly string[],
  ) {}

  /** The result ends it. */
  start(): () => Promise<void> {
    const told = new AbortController();
    const { signal } = told;
    const beacon = onPrimary(this.pair, signal, (client) => this.commit(client, signal));
    const sampling = this.sample(signal);
    return async () => {
      told.abort();
      await Promise.all([beacon, sampling]);
    };
  }

  /** Seconds. */
  of(name: string): { median: number; greatest: number } {
    const sorted = (this.samples.get(name) ?? []).sort((a, b) => a - b);
    return { median: sorted[sorted.length >> 1] ?? 0, greatest: sorted.at(-1) ?? 0 };
  }

  private async commit(client: pg.Client, signal: AbortSignal): Promise<void> {
    const { rows } = await client.query<{ name: string }>(
      `SELECT name FROM public.products WHERE "productID" = '${BEACON}'`,
    );
    // What was lost is not to be had.
    this.commits = this.commits.filter(({ number }) => number <= Number(rows[0]?.name));
    while (!signal.aborted) {
      const number = (this.next += 1);
      const statements = TABLES.map(
        (table) =>
          `UPDATE ${table} SET name = '${number}', "updatedAt" = now() WHERE "productID" = '${BEACON}'`,
      );
      // One transaction.
      await client.query(statements.join(';'));
      this.commits.push({ number, at: performance.now() });
      if (this.commits.length > 10_000) this.commits.splice(0, 1000);
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
      const now = performance.now();
      const { rows } = await this.copies.query<{ copy: string; name: string }>(text);
      for (const name of this.names) {
        const has = Number(rows.find(({ copy }) => copy === name)?.name ?? this.had.get(name));
        this.had.set(name, has);
        const lacking = this.commits.find(({ number }) => number > has);
        const samples = this.samples.get(name) ?? [];
        samples.push(lacking ? Math.max(0, now - lacking.at) / 1000 : 0);
        this.samples.set(name, samples);
      }
      await sleep(500);
    }
  }
}
