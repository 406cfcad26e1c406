import type { WriteStream } from 'node:tty';
import type { openSource } from '../import/source.js';

/** Milliseconds between two lines if the output is not a terminal. */
const LINE_PERIOD = 5000;
/** Milliseconds between two updates of the bar. */
const BAR_PERIOD = 100;
const BAR_WIDTH = 30;

/** Shows the progress of an import: as a bar on a terminal, otherwise as a line every 5 seconds. */
export class Progress {
  private rows = 0;
  private shownAt = performance.now();

  constructor(
    private readonly output: WriteStream,
    private readonly source: Awaited<ReturnType<typeof openSource>>,
  ) {}

  /** Counts the rows of batches as they pass through. */
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
    const period = this.output.isTTY ? BAR_PERIOD : LINE_PERIOD;
    if (now - this.shownAt < period && !(stage && this.output.isTTY)) return;
    this.shownAt = now;
    const { stream, size } = this.source;
    const fraction = size ? Math.min(1, stream.bytesRead / size) : undefined;
    const rows = `${this.rows.toLocaleString('en-US')} rows${stage ? `, ${stage}` : ''}`;
    const percent = fraction === undefined ? '' : `${Math.floor(fraction * 100)} % · `;
    if (!this.output.isTTY) {
      this.output.write(`${percent}${rows}\n`);
      return;
    }
    const filled = Math.round((fraction ?? 0) * BAR_WIDTH);
    const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled);
    this.output.write(`\r\x1b[K${fraction === undefined ? '' : `${bar} `}${percent}${rows}`);
  }
}
