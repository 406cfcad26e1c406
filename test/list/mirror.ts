import { mirror } from '../../packages/client/src/mirror.js';
import { Transport } from '../../packages/client/src/transport.js';
import type { Service } from '../service.js';

/** A copy of a resource, kept up to date by the client as docs/api.md says. */
export class Mirror {
  readonly objects = new Map<string, object>();
  /** The cursor of the next round; `undefined` before the first. */
  since: string | undefined;

  constructor(
    private readonly service: Service,
    private readonly resource: string,
    private readonly identifier: string,
  ) {}

  async round(): Promise<void> {
    const { service, objects, resource: name, identifier, since: cursor } = this;
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
    this.since = await mirror({ transport, name, identifier, store, cursor, fields: undefined });
    if (this.since === undefined) throw new Error('There is no X-Updated-Until');
  }
}

/** A brand as one line of text, for comparison. */
export function shown(brand: object): string {
  const { brandID, name } = brand as Record<string, unknown>;
  return `${String(brandID)} ${String(name)}`;
}
