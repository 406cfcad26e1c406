import { type Command, Option } from 'commander';
import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import type { Project } from '../project.js';
import { Settings } from '../settings/settings.js';
import { withApplication, withCatalogue, withDatabase } from './open-catalogue.js';
import { stopSignal } from './stop-signal.js';
import type { DescribeOptions } from '../schema/describe-table.js';

interface DownOptions {
  readonly down?: boolean;
  readonly destructive?: boolean;
}

interface MigrateOptions extends DownOptions {
  readonly dryRun?: boolean;
}

export function migrateCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('migrate')
    .description(
      'apply pending migrations, and install what @Resource declares; safe to run several at once',
    )
    .addOption(
      new Option('--dry-run', 'print what would be done, and do nothing').conflicts([
        'down',
        'destructive',
      ]),
    )
    .option('--down', 'take back the migration that was applied last')
    .option('--destructive', 'take it back even if data is lost')
    .action(
      async ({ down = false, destructive = false, dryRun }: MigrateOptions, audit: Command) => {
        const settings = new Settings(process.env);
        const work = async (url: string): Promise<void> => {
          if (dryRun) await printPlan(project, url, settings);
          else if (down) await migrateDown(project, url, destructive);
          else await migrateUp(project, url, settings);
        };
        await withDatabase(settings, work, dryRun ? {} : { audit });
      },
    );
}

async function migrateUp(project: Project, url: string, settings: Settings): Promise<void> {
  const { DataSource } = await import('typeorm');
  const { migrate } = await import('../schema/migrate.js');
  const { installedLine } = await import('../schema/install-parts.js');
  const { migrationsOf } = await import('../project.js');
  const migrations = await migrationsOf(project);
  const { searchLanguage } = settings;
  const { migrations: applied, installed } = await withApplication(
    project,
    url,
    settings,
    (application) => {
      const declared = (): Promise<DataSource> => Promise.resolve(application.get(DataSource));
      return migrate(url, {
        migrations,
        searchLanguage,
        signal: stopSignal(),
        declared,
        exact: true,
      });
    },
  );
  for (const name of applied) console.log(name);
  for (const part of installed) console.log(installedLine(part));
  console.log(`The schema is up to date: ${applied.length} migrations taken`);
}

async function migrateDown(project: Project, url: string, destructive: boolean): Promise<void> {
  const { migrationsOf } = await import('../project.js');
  const { revertMigration } = await import('../database/revert-migration.js');
  const name = await revertMigration(url, destructive, {
    migrations: await migrationsOf(project),
    signal: stopSignal(),
  });
  console.log(`${name} is taken back; the next start or migrate applies it again if it is there`);
}

async function printPlan(project: Project, url: string, settings: Settings): Promise<void> {
  const { DataSource } = await import('typeorm');
  const { plannedChanges } = await import('../schema/install-parts.js');
  const lines = await withApplication(project, url, settings, (application) =>
    plannedChanges(application.get(DataSource)),
  );
  for (const line of lines) console.log(line);
}

export function migrationCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('migration')
    .description('write a migration for the changes of the entities')
    .argument('<name>', 'for example add-supplier-phone')
    .option('--destructive', 'write it even if it loses data')
    .option('--empty', 'write it without statements, for SQL of your own')
    .action(async (name: string, options: { destructive?: boolean; empty?: boolean }) => {
      const { destructive = false, empty = false } = options;
      const { writeEmptyMigration, writeMigration } = await import('./write-migration.js');
      if (empty) {
        console.log(await writeEmptyMigration(name));
        return;
      }
      const file = await withDatabase(new Settings(process.env), (url) =>
        writeMigration(project, url, name, destructive),
      );
      console.log(file ?? 'There is nothing to write: the tables are what the entities say');
    });
}

export function dropCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('drop')
    .description('drop the tables of a resource that the code no longer has')
    .argument('<resource>', 'for example suppliers')
    .option('--destructive', 'drop them even if they have objects or deletions')
    .action(async (resource: string, { destructive = false }: DownOptions, audit: Command) => {
      const { dropSurplusResource } = await import('./drop-resource.js');
      await withCatalogue(
        project,
        (_, dataSource) => dropSurplusResource(dataSource, resource, destructive),
        { requireMigrated: false, audit },
      );
      console.log(`${resource} is dropped`);
    });
}

export function describeCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('describe')
    .description(
      'print what a resource over an existing table, view or foreign table would have, as JSON',
    )
    .argument('<table>', 'as in SQL, for example sales.items')
    .option('--key <column>', 'the column that identifies the rows; default: the primary key')
    .option('--omit <columns>', 'columns to leave out, separated by commas', split)
    .option(
      '--indexed <columns>',
      'columns of a foreign table that have an index where its rows are',
      split,
    )
    .action(async (table: string, options: DescribeOptions) => {
      const { describeTable } = await import('../schema/describe-table.js');
      await withCatalogue(
        project,
        async (_, dataSource) => {
          const described = await describeTable(dataSource, table, options);
          console.log(JSON.stringify(described, null, 2));
        },
        { requireMigrated: false },
      );
    });
}

function split(names: string): string[] {
  return names.split(',').map((name) => name.trim());
}

export function explainCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('explain')
    .description('say how a list is read: the plan, the statement, and what PostgreSQL does')
    .argument('<url>', "path and query, for example '/products?sort=-price&offset=9000'")
    .option('--client <clientID>', 'who asks for it, for a resource with a scope, or with rights')
    .action(async (url: string, { client }: { client?: string }) => {
      const { explainList } = await import('./explain-list.js');
      await withCatalogue(project, async (catalogue) => {
        for (const line of await explainList(catalogue, url, client)) console.log(line);
      });
    });
}

export function verifyCommand(catalogue: Command, project: Project): void {
  catalogue
    .command('verify')
    .description('check the schema and the data for violations of their invariants')
    .action(async () => {
      const { pendingMigrations } = await import('../database/migrate.js');
      const { findViolations } = await import('../verify/verify.js');
      const { ClientsService } = await import('../clients/clients.service.js');
      await withCatalogue(
        project,
        async (catalogue, dataSource) => {
          const pending = await pendingMigrations(dataSource);
          const names = pending.join(', ');
          const violations = names
            ? [
                `migrations are pending: ${names}; run catalogue migrate, nothing else is checked before`,
              ]
            : [
                ...(await findViolations(catalogue)),
                ...(await catalogue.get(ClientsService).staleRights()),
              ];
          for (const line of violations) console.log(line);
          if (violations.length > 0)
            throw new CommandError(
              `${violations.length} ${violations.length === 1 ? 'thing is' : 'things are'} off`,
            );
          console.log('Nothing is off');
        },
        { requireMigrated: false },
      );
    });
}

export function searchCommand(catalogue: Command, project: Project): void {
  const search = catalogue.command('search').description('manage the search for words');
  search
    .command('rebuild')
    .description('compute the words of all objects again, in the language of SEARCH_LANGUAGE')
    .action(async (_options: object, audit: Command) => {
      const { rebuildSearch } = await import('../schema/search-language.js');
      await withCatalogue(
        project,
        async (catalogue, dataSource) => {
          const { searchLanguage } = catalogue.get(Settings);
          const resources = await rebuildSearch(dataSource, searchLanguage);
          console.log(
            `Searches are in the language ${searchLanguage}. Rebuilt: ${resources.join(', ')}`,
          );
        },
        { audit },
      );
    });
}
