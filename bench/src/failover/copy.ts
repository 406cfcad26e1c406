import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { inBackground, until } from '../background.js';
import { mirrorOf } from '../client.js';
import type { Written } from './writers.js';

/** A copy of a resource in memory, kept by `mirror()` all the time: identifiers and names. */
export class Copy {
  /** How often it was emptied and read again from the beginning. */
  begun = 0;
  private readonly names = new Map<string, string>();
  private rounds = 0;
  readonly stop: () => Promise<void>;

  constructor(
    private readonly address: string,
    private readonly headers: Readonly<Record<string, string>>,
    private readonly resource: Written,
  ) {
    this.stop = inBackground((signal) => this.run(signal));
  }

  /** The number of objects that are not as the primary has them, after one round that began after now. */
  async differences(primary: pg.Client): Promise<number> {
    const { table, identifier } = this.resource;
    const { rounds } = this;
    await until(() => Promise.resolve(this.rounds > rounds + 1), `a round of the copy of ${table}`);
    const { rows } = await primary.query<{ id: string; name: string }>(
      `SELECT "${identifier}" AS id, name FROM ${table}`,
    );
    const differing = rows.filter(({ id, name }) => this.names.get(id) !== name).length;
    const identifiers = new Set(rows.map(({ id }) => id));
    return differing + [...this.names.keys()].filter((id) => !identifiers.has(id)).length;
  }

  private async run(signal: AbortSignal): Promise<void> {
    const { address, headers, resource, names } = this;
    const { table, identifier } = resource;
    const store = {
      clear: () => {
        this.begun += 1;
        names.clear();
      },
      put: (objects: readonly Readonly<Record<string, string>>[]) => {
        for (const { [identifier]: id = '', name = '' } of objects) names.set(id, name);
      },
      delete: (identifiers: readonly string[]) => {
        for (const id of identifiers) names.delete(id);
      },
    };
    const fields = { [table]: [identifier, 'name'] };
    const save = (): void => undefined;
    const mirror = await mirrorOf(address, headers, { [table]: store }, { save, fields });
    while (!signal.aborted) {
      try {
        await mirror.round();
        this.rounds += 1;
      } catch {
        // The service is not available. The next round continues.
      }
      await sleep(500);
    }
  }
}
