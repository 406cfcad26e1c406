import { expect, it } from '@jest/globals';
import { type CommandResult, runNode } from './cli/catalogue.js';
import { sharedService } from './service.js';

const service = sharedService();

/** A command of TypeORM on the database of the service. */
const typeorm = (command: string): Promise<CommandResult> =>
  runNode(['node_modules/typeorm/cli.js', command, '-d', 'dist/data-source.js'], {
    environment: { DATABASE_URL: service.database.url },
  });

it('The command line of TypeORM shows the migrations', async () => {
  const { status, stdout } = await typeorm('migration:show');
  expect([status, stdout]).toEqual([0, expect.stringMatching(/^\[X\] \d+ Baseline\d+\n/)]);
  expect(stdout).not.toContain('[ ]');
});

it('finds nothing to change in a migrated database, and what is missing in another one', async () => {
  const upToDate = await typeorm('schema:log');
  expect([upToDate.status, upToDate.stdout]).toEqual([0, expect.stringContaining('up to date')]);
  await service.dataSource.query('ALTER TABLE brands DROP COLUMN "updatedAt"');
  const { stdout } = await typeorm('schema:log');
  expect(stdout).toContain('ALTER TABLE "brands" ADD "updatedAt"');
  expect(stdout).not.toContain('DROP INDEX');
});
