import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { PROJECT } from '../processes.js';

interface Category {
  readonly categoryID: string;
  readonly name: string | null;
}

/** As far as it is used here. */
interface Client {
  readonly categories: {
    mirror(options: { store: Copy; cursor: string | undefined; fields: string[] }): Promise<void>;
  };
}

/** A copy of the categories, brought up to date by the client all the time. */
export class Copy {
  private readonly objects = new Map<string, string | null>();
  private begun = 0;
  private rounds = 0;
  private cursor: string | undefined;
  private readonly told = new AbortController();
  private ended: Promise<void> = Promise.resolve();

  private constructor(private readonly client: Client) {}

  static async of(url: string, clientID: string, accessToken: string): Promise<Copy> {
    const { Catalogue } = (await import(
      join(PROJECT, 'packages', 'client', 'dist', 'index.js')
    )) as { Catalogue: new (options: object) => Client };
    const copy = new Copy(new Catalogue({ url, clientID, accessToken }));
    copy.ended = copy.run();
    return copy;
  }

  save(cursor: string | undefined): void {
    this.cursor = cursor;
  }

  clear(): void {
    this.begun += 1;
    this.objects.clear();
  }

  put(objects: readonly Category[]): void {
    for (const { categoryID, name } of objects) this.objects.set(categoryID, name);
  }

  delete(identifiers: readonly string[]): void {
    for (const identifier of identifiers) this.objects.delete(identifier);
  }

  /** How often it was begun since this was asked last. */
  takeBegun(): number {
    const { begun } = this;
    this.begun = 0;
    return begun;
  }

  /** Counts the differences to the table. Nobody may change the table meanwhile. */
  async differences(primary: pg.Client): Promise<number> {
    // The watermark passes the last change, and two rounds begin after that.
    await sleep(3000);
    const last = this.rounds + 2;
    while (this.rounds < last) await sleep(50);
    const { rows } = await primary.query<Category>('SELECT "categoryID", name FROM categories');
    const names = new Map(rows.map(({ categoryID, name }) => [categoryID, name]));
    const identifiers = new Set([...names.keys(), ...this.objects.keys()]);
    return [...identifiers].filter((id) => names.get(id) !== this.objects.get(id)).length;
  }

  async stop(): Promise<void> {
    this.told.abort();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.told.signal.aborted) {
      try {
        const { cursor } = this;
        await this.client.categories.mirror({
          store: this,
          cursor,
          fields: ['categoryID', 'name'],
        });
        this.rounds += 1;
      } catch {
        // The service is not available. The next round continues.
      }
      await sleep(200);
    }
  }
}
