import { Mirror as ClientMirror, Transport } from '@catalogue/client';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Service } from '../service.js';

/** Rounds beside the writers. */
const MINIMUM_ROUNDS = 6;

/** A copy of a resource, kept up to date by the client as docs/api.md says. */
export class Mirror {
  readonly objects = new Map<string, object>();
  /** The cursor of the next round; `undefined` before the first. */
  cursor: string | undefined;

  constructor(
    private readonly service: Service,
    private readonly resource: string,
    private readonly identifier: string,
  ) {}

  async round(): Promise<void> {
    const { service, objects, resource: name, identifier, cursor } = this;
    const store = {
      clear: () => {
        if (cursor !== undefined) throw new Error('The copy begins again');
      },
      put: (rows: readonly object[]) => {
        for (const row of rows) objects.set((row as Record<string, string>)[identifier] ?? '', row);
      },
      delete: (identifiers: readonly string[]) => {
        for (const each of identifiers) objects.delete(each);
      },
    };
    const { port, clientID, token: accessToken } = service;
    const transport = new Transport({ url: `http://127.0.0.1:${port}`, clientID, accessToken });
    const save = (next: string | undefined) => {
      this.cursor = next;
    };
    await new ClientMirror(transport, { [name]: store }, { cursor, save }).round();
    if (this.cursor === undefined) throw new Error('There is no X-Updated-Until');
  }

  /**
   * Runs rounds beside writers while the watermark advances, as `Maintenance` advances it every second, and one
   * after them. On a busy machine it goes on until there were enough rounds.
   *
   * @param write writes until `isOver`
   * @param margin that of the watermark, in SQL. A negative one has the effect of a clock that was ahead by as much
   *   and is set back afterwards.
   * @returns the rounds beside the writers, and what each writer returned
   */
  async follow<T>({
    seconds,
    writers,
    write,
    margin = () => '1 ms',
  }: {
    readonly seconds: number;
    readonly writers: number;
    readonly write: (writer: number, isOver: () => boolean) => Promise<T>;
    readonly margin?: () => string;
  }): Promise<{ readonly rounds: number; readonly written: T[] }> {
    const end = performance.now() + seconds * 1000;
    let rounds = 0;
    const isOver = () => performance.now() > end && rounds >= MINIMUM_ROUNDS;
    const beat = async () => {
      while (!isOver()) {
        await this.service.dataSource.query('SELECT advance_watermark($1)', [margin()]);
        await sleep(20);
      }
    };
    const follow = async () => {
      while (!isOver()) {
        await this.round();
        rounds += 1;
      }
    };
    const writing = Array.from({ length: writers }, (_, writer) => write(writer, isOver));
    const [written] = await Promise.all([Promise.all(writing), beat(), follow()]);
    await this.round();
    return { rounds, written };
  }
}

/** A brand as one line of text, for comparison. */
export function shown(brand: object): string {
  const { brandID, name } = brand as Record<string, unknown>;
  return `${String(brandID)} ${String(name)}`;
}
