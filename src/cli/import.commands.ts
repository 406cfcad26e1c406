import { setFlagsFromString } from 'node:v8';
import { Command, Option } from 'commander';
import { DataSource, type EntityMetadata, type QueryRunner } from 'typeorm';
import { exportRows } from '../import/export-rows.js';
import { type Format, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { openSource, textOf } from '../import/source.js';
import { resourcesOf } from '../resource/resource.js';
import { TallyMaintenance } from '../list/tally/maintain.js';
import { CommandError } from '../command-error.js';
import { assignment } from './arguments.js';
import { withCatalogue } from './open-catalogue.js';
import { Progress } from './progress.js';

interface ImportFlags {
  format?: Format;
  map?: ReadonlyMap<string, string>;
  set?: ReadonlyMap<string, string>;
  replace?: true;
  dryRun?: true;
}

export function importCommand(): Command {
  return new Command('import')
    .description('loads a file into a resource: all rows or none')
    .argument('<resource>')
    .argument('<file>', 'CSV or NDJSON, also packed by gzip; - for standard input')
    .addOption(formatOption('by the name of the file, else csv'))
    .option('--map <field=column>', 'takes a field from a column of another name', assignment)
    .option('--set <field=value>', 'gives a field the same value in every row', assignment)
    .option('--replace', 'also deletes what the file lacks')
    .option('--dry-run', 'does everything, and then takes it back')
    .action((resource: string, file: string, flags: ImportFlags) =>
      withResource(resource, (runner, metadata) => load(runner, metadata, file, flags)),
    );
}

export function exportCommand(): Command {
  return new Command('export')
    .description('writes all of a resource to standard output')
    .argument('<resource>')
    .addOption(formatOption('csv').default('csv'))
    .action((resource: string, { format }: { format: Format }) =>
      withResource(resource, (runner, metadata) =>
        exportRows(runner, metadata, format, process.stdout),
      ),
    );
}

function formatOption(standard: string): Option {
  return new Option('--format <format>', `unless said: ${standard}`).choices(['csv', 'ndjson']);
}

async function load(
  runner: QueryRunner,
  metadata: EntityMetadata,
  file: string,
  flags: ImportFlags,
): Promise<void> {
  // A million rows are garbage one by one. Unless told to, V8 lets it come to what a service needs.
  setFlagsFromString('--heap-growing-percent=30');
  const source = await openSource(file);
  const format = flags.format ?? (/\.(ndjson|jsonl)(\.gz)?$/.test(file) ? 'ndjson' : 'csv');
  const progress = new Progress(process.stderr, source.size);
  const text = textOf(source, (bytes) => {
    progress.add(bytes);
  });
  await runner.startTransaction();
  try {
    const result = await importRows(runner, metadata, progress.count(rowsOf(format, text)), {
      map: flags.map ?? new Map(),
      set: flags.set ?? new Map(),
      replace: flags.replace ?? false,
    });
    if (flags.dryRun) {
      await runner.rollbackTransaction();
    } else {
      await runner.commitTransaction();
      await cutTally(runner.dataSource, metadata);
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
    // Without its connection the transaction is over as it is: what matters is why.
    if (runner.isTransactionActive) await runner.rollbackTransaction().catch(() => undefined);
    throw error;
  }
}

/** Cuts the tally as the new rows want it. The rows are in, so what fails here is left to the service. */
async function cutTally(dataSource: DataSource, metadata: EntityMetadata): Promise<void> {
  try {
    await new TallyMaintenance(dataSource, metadata).run();
  } catch (error) {
    console.error(`The tally will be cut by the service: ${(error as Error).message}`);
  }
}

function withResource(
  name: string,
  work: (runner: QueryRunner, metadata: EntityMetadata) => Promise<void>,
): Promise<void> {
  return withCatalogue(async (catalogue) => {
    const dataSource = catalogue.get(DataSource);
    const resources = resourcesOf(dataSource);
    const metadata = resources.get(name);
    if (!metadata) {
      const names = [...resources.keys()].sort().join(', ');
      throw new CommandError(`There is no resource ${name}; there are ${names}`);
    }
    const runner = dataSource.createQueryRunner();
    try {
      await work(runner, metadata);
    } finally {
      await runner.release();
    }
  });
}
