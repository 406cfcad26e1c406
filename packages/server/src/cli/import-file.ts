import { setFlagsFromString } from 'node:v8';
import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { DataSource, type EntityMetadata, type QueryRunner } from 'typeorm';
import { LockMonitor, type Reporting } from '../database/lock-monitor.js';
import { formatNamed, type ImportFormat, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { openSource, textOf } from '../import/source.js';
import type { Project } from '../project.js';
import { hasOwnTable, tableOf } from '../resource/resource.js';
import { Maintenance } from '../list/maintenance.js';
import { analyseWritten, REPORT_WRITES } from '../tally/statistics.js';
import { CommandError } from '../command-error.js';
import { withResource } from './open-catalogue.js';
import { Progress } from './progress.js';

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
  await withResource(
    project,
    resource,
    (runner, metadata, catalogue) => {
      if (hasOwnTable(metadata)) return load(catalogue, runner, metadata, file, flags);
      throw new CommandError(
        `${resource} lists ${tableOf(metadata)}, an external table, which is only read`,
      );
    },
    audit,
  );
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
