import type { Service } from '../service.js';

type Row = Record<string, unknown>;

/** A copy of a resource, kept up to date as docs/api.md tells a client to. */
export class Mirror {
  readonly objects = new Map<string, Row>();
  /** The `updatedSince` of the next round; `undefined` before the first. */
  since: string | undefined;

  constructor(
    private readonly service: Service,
    private readonly resource: string,
    private readonly identifier: string,
  ) {}

  async round(): Promise<void> {
    const since = this.since === undefined ? '' : `?updatedSince=${this.since}`;
    const changed = await this.fetch(`/${this.resource}${since}`);
    for (const row of changed.rows) this.objects.set(String(row[this.identifier]), row);
    let until = changed.until;
    if (this.since !== undefined) {
      const deleted = await this.fetch(`/deletions/${this.resource}?deletedSince=${this.since}`);
      for (const row of deleted.rows) this.objects.delete(String(row[this.identifier]));
      until = [until, deleted.until].sort()[0] ?? '';
    }
    this.since = until;
  }

  private async fetch(path: string): Promise<{ rows: Row[]; until: string }> {
    const { clientID, token, port } = this.service;
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      headers: {
        Accept: 'application/x-ndjson',
        'X-Client-ID': clientID,
        Authorization: `Bearer ${token}`,
      },
    });
    const text = await response.text();
    if (response.status !== 200) throw new Error(text);
    const until = response.headers.get('x-updated-until');
    if (until === null) throw new Error('There is no X-Updated-Until');
    const lines = text.split('\n').filter((line) => line !== '');
    return { rows: lines.map((line) => JSON.parse(line) as Row), until };
  }
}

/** A brand as one line of text, for comparison. */
export function shown({ brandID, name }: Record<string, unknown>): string {
  return `${String(brandID)} ${String(name)}`;
}
