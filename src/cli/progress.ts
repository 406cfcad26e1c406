import type { WriteStream } from 'node:tty';

/** Milliseconds between two lines where there is no terminal. */
const LINE_EVERY = 5000;
/** Milliseconds between two pictures of the bar. */
const BAR_EVERY = 100;
const BAR_WIDTH = 30;

/** How far an import is: a bar on a terminal, elsewhere a line every few seconds. */
export class Progress {
  private bytes = 0;
  private rows = 0;
  private shownAt = performance.now();

  /** @param size bytes that will have been read in the end, where that is known */
  constructor(
    private readonly output: WriteStream,
    private readonly size: number | undefined,
  ) {}

  add(bytes: number): void {
    this.bytes += bytes;
  }

  /** Passes batches of rows on and counts the rows. */
  async *count<Row>(batches: AsyncIterable<Row[]>): AsyncGenerator<Row[]> {
    for await (const batch of batches) {
      yield batch;
      this.rows += batch.length;
      this.show();
    }
    this.show('checking and writing');
  }

  /** Clears the bar. */
  end(): void {
    if (this.output.isTTY) this.output.write('\r\x1b[K');
  }

  private show(stage?: string): void {
    const now = performance.now();
    const every = this.output.isTTY ? BAR_EVERY : LINE_EVERY;
    if (now - this.shownAt < every && !(stage && this.output.isTTY)) return;
    this.shownAt = now;
    const part = this.size ? Math.min(1, this.bytes / this.size) : undefined;
    const rows = `${this.rows.toLocaleString('en-US')} rows${stage ? `, ${stage}` : ''}`;
    const percent = part === undefined ? '' : `${Math.floor(part * 100)} % · `;
    if (!this.output.isTTY) {
      this.output.write(`${percent}${rows}\n`);
      return;
    }
    const filled = Math.round((part ?? 0) * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    this.output.write(`\r\x1b[K${part === undefined ? '' : `${bar} `}${percent}${rows}`);
  }
}
