import { setFlagsFromString } from 'node:v8';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DataSource, type EntityMetadata, type QueryRunner } from 'typeorm';
import type { WriteStream } from 'node:tty';
import { LockMonitor, type Reporting } from '../database/lock-monitor.js';
import { formatNamed, type ImportFormat, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { openSource, textOf } from '../import/source.js';
import type { Project } from '../project.js';
import { hasOwnTable, resourcesOf, tableOf } from '../resource/resource.js';
import { Maintenance } from '../list/maintenance.js';
import { analyseWritten, REPORT_WRITES } from '../tally/statistics.js';
import { CommandError } from '../command-error.js';
import { withCatalogue } from './open-catalogue.js';

/** Once, and not for a short wait. */
const REPORTING: Reporting = { period: 1000, after: 2000, again: Infinity };

/** The options of `import`. */
export interface ImportFlags {
  format?: ImportFormat;
  delimiter?: string;
  map?: ReadonlyMap<string, string>;
  set?: ReadonlyMap<string, string>;
  number?: true;
  replace?: true;
  allowDeletes?: true;
  allowInvisible?: true;
  dryRun?: true;
}

/** Loads a file into a resource and prints what it has changed. */
export async function importFile(
  project: Project,
  resource: string,
  file: string,
  flags: ImportFlags,
  audit: Command,
): Promise<void> {
  const work: ResourceWork = (runner, metadata, catalogue) => {
    if (hasOwnTable(metadata)) return load(catalogue, runner, metadata, file, flags);
    throw new CommandError(
      `${resource} lists ${tableOf(metadata)}, an external table, which is only read`,
    );
  };
  await withResource(project, resource, work, audit);
}

async function load(
  catalogue: INestApplicationContext,
  runner: QueryRunner,
  metadata: EntityMetadata,
  file: string,
  flags: ImportFlags,
): Promise<void> {
  // Rows are short-lived garbage. By default, V8 grows the heap far beyond what an import needs.
  setFlagsFromString('--heap-growing-percent=30');
  const source = await openSource(file);
  const format = flags.format ?? formatNamed(file);
  const progress = new Progress(process.stderr, source);
  await runner.startTransaction();
  try {
    const rows = progress.count(rowsOf(format, textOf(source.stream), flags.delimiter));
    const onWaiting = (line: string): void => {
      progress.end();
      console.error(`The import ${line}`);
    };
    const result = await LockMonitor.during(runner, REPORTING, onWaiting, () =>
      importRows(runner, metadata, rows, {
        ...flags,
        map: flags.map ?? new Map(),
        set: flags.set ?? new Map(),
        replace: flags.replace ?? false,
      }),
    );
    if (flags.dryRun) {
      await runner.rollbackTransaction();
    } else {
      await runner.query(REPORT_WRITES);
      await runner.commitTransaction();
      await maintain(catalogue, metadata);
    }
    progress.end();
    if (result.leftOut.length > 0) console.error(`Left out: ${result.leftOut.join(', ')}`);
    if (flags.dryRun) console.error('A dry run: nothing was changed');
    const { inserted, updated, unchanged, deleted } = result;
    console.log(
      `${inserted} inserted, ${updated} updated, ${unchanged} unchanged, ${deleted} deleted`,
    );
  } catch (error) {
    progress.end();
    // A failed rollback is ignored: with a lost connection the transaction has ended anyway.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

/**
 * Vacuums the table if much of it was written, and runs the maintenance that is due then. A failure is only reported:
 * autovacuum and the service do the same later.
 */
async function maintain(
  catalogue: INestApplicationContext,
  metadata: EntityMetadata,
): Promise<void> {
  const dataSource = catalogue.get(DataSource);
  try {
    // Without it, a cut reads the table in place of an index.
    await analyseWritten(dataSource, [tableOf(metadata)], 'VACUUM (ANALYZE, SKIP_LOCKED)');
    if (await catalogue.get(Maintenance).complete(metadata.tableName)) return;
    console.error('Not maintained yet; the service will do it');
  } catch (error) {
    console.error(`Not maintained; the service will do it: ${(error as Error).message}`);
  }
}

type ResourceWork = (
  runner: QueryRunner,
  metadata: EntityMetadata,
  catalogue: INestApplicationContext,
) => Promise<void>;

/**
 * @param audit as of `withDatabase`
 * @throws CommandError if there is no such resource
 */
export function withResource(
  project: Project,
  name: string,
  work: ResourceWork,
  audit?: Command,
): Promise<void> {
  const withMetadata = async (
    catalogue: INestApplicationContext,
    dataSource: DataSource,
  ): Promise<void> => {
    const resources = resourcesOf(dataSource);
    const metadata = resources.get(name);
    if (!metadata) {
      const names = [...resources.keys()].sort().join(', ');
      throw new CommandError(`There is no resource ${name}; there are ${names}`);
    }
    const runner = dataSource.createQueryRunner();
    try {
      await work(runner, metadata, catalogue);
    } finally {
      await runner.release();
    }
  };
  return withCatalogue(project, withMetadata, { audit });
}

/** Milliseconds between two lines if the output is not a terminal. */
const LINE_PERIOD = 5000;
/** Milliseconds between two updates of the bar. */
const BAR_PERIOD = 100;
const BAR_WIDTH = 30;

/** Shows the progress of an import: as a bar on a terminal, otherwise as a line every 5 seconds. */
class Progress {
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
