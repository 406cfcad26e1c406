import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedServer } from '../../packages/embedded-postgres/index.js';
import { embeddedDatabase } from '../../src/cli/open-catalogue.js';
import { Settings } from '../../src/settings/settings.js';
import type { CommandResult } from '../cli/catalogue.js';
import { createDatabase, type TestDatabase } from '../database/database.js';
import { ScratchCopy } from './scratch-copy.js';

const KINDS = ['the embedded database', 'a database of one’s own'] as const;
const ROWS = 'outdatedWareID,name\ns1,One\ns2,Two\n';
const PENDING = 'catalogue: The schema is not up to date: run catalogue migrate first\n';

let copy: ScratchCopy;
let database: TestDatabase;
let environments: Record<(typeof KINDS)[number], NodeJS.ProcessEnv>;
/** The embedded server, which each command would otherwise start and stop. */
let server: EmbeddedServer | undefined;

beforeAll(async () => {
  copy = await ScratchCopy.make();
  const dataDir = await mkdtemp(join(tmpdir(), 'catalogue-removed-'));
  // Root runs the server as another user, who has to get in.
  await chmod(dataDir, 0o755);
  database = await createDatabase({ migrated: false });
  environments = {
    'the embedded database': { DATA_DIR: dataDir },
    'a database of one’s own': { DATABASE_URL: database.url },
  };
  const [generated] = await copy.resources([
    ['outdatedWares', '--fields', 'name:text:words,state:enum=ON/OFF:null'],
  ]);
  expect(generated).toMatchObject({ status: 0 });
  await copy.transpile();
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
  await server?.release();
  await rm(environments['the embedded database'].DATA_DIR ?? '', { recursive: true });
});

/** The name of the migration in a file, such as `RemoveOutdatedWares1795379128613`. */
async function migrationOf(action: 'create' | 'remove'): Promise<string> {
  const files = await readdir(join(copy.folder, 'src/database/migrations'));
  const file = files.find((name) => name.endsWith(`-${action}-outdated-wares.ts`)) ?? '';
  const time = /^\d+/.exec(file)?.[0] ?? '';
  return `${action === 'create' ? 'Create' : 'Remove'}OutdatedWares${time}`;
}

// What each test changes, those after it build on.
describe.each(KINDS)('Commands on %s', (kind) => {
  const run = (...args: string[]): Promise<CommandResult> =>
    copy.command(args, { environment: environments[kind] });

  it('do not migrate it while it is new', async () => {
    for (const command of [
      ['client', 'create', 'own'],
      ['export', 'brands'],
    ]) {
      expect(await run(...command)).toEqual({ status: 1, stdout: '', stderr: PENDING });
    }
    expect(await run('verify')).toMatchObject({ status: 1 });
    if (kind === 'the embedded database') {
      server = await embeddedDatabase(new Settings(environments[kind]));
    }
    expect(await run('migrate')).toMatchObject({ status: 0 });
    expect(await run('client', 'create', 'own')).toMatchObject({ status: 0 });
  });

  it('do not apply again what migrate --down has taken back', async () => {
    const name = await migrationOf('create');
    expect(await run('migrate', '--down')).toMatchObject({ status: 0 });
    for (let time = 0; time < 2; time += 1) {
      expect(await run('verify')).toEqual({
        status: 1,
        stdout: `migrations are pending: ${name}; run catalogue migrate, nothing else is checked before\n`,
        stderr: 'catalogue: 1 thing is off\n',
      });
    }
    expect(await run('migrate')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(name),
    });
    const imported = await copy.command(['import', 'outdated_wares', '-'], {
      environment: environments[kind],
      input: ROWS,
    });
    expect(imported).toMatchObject({ status: 0 });
  });
});

it('The removal of a resource says how its objects are deleted', async () => {
  expect(await copy.resources([['outdated_wares', '--remove']])).toMatchObject([
    {
      status: 0,
      stderr: expect.stringContaining('catalogue drop outdated_wares --destructive'),
    },
  ]);
  await copy.transpile();
});

describe.each(KINDS)('A resource with objects that is removed, on %s', (kind) => {
  const run = (...args: string[]): Promise<CommandResult> =>
    copy.command(args, { environment: environments[kind] });

  it('keeps them until it is dropped by a command of its own', async () => {
    const name = await migrationOf('remove');
    expect(await run('verify')).toEqual({
      status: 1,
      stdout: `migrations are pending: ${name}; run catalogue migrate, nothing else is checked before\n`,
      stderr: 'catalogue: 1 thing is off\n',
    });
    expect(await run('export', 'brands')).toEqual({ status: 1, stdout: '', stderr: PENDING });
    for (const command of ['migrate', 'start']) {
      expect(await run(command)).toMatchObject({
        status: 1,
        stderr:
          'catalogue: outdated_wares, which the code no longer has, has 2 objects: ' +
          'delete them with catalogue drop outdated_wares --destructive, then migrate again\n',
      });
    }
    expect(await run('drop', 'outdated_wares')).toMatchObject({ status: 1 });
    expect(await run('drop', 'outdated_wares', '--destructive')).toMatchObject({ status: 0 });
    expect(await run('verify')).toMatchObject({ status: 1 });
    expect(await run('migrate')).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(name),
    });
    // A project may list a table of others, which this database has not.
    expect((await run('verify')).stdout).not.toMatch(/outdated|pending/);
  });
});
