import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { chmod, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EmbeddedServer } from '../../packages/embedded-postgres/index.js';
import { embeddedDatabase } from '#server/cli/open-catalogue.js';
import { Settings } from '#server/settings/settings.js';
import type { CommandResult } from '../cli/catalogue.js';
import {
  connectedTo,
  createDatabase,
  queryOn,
  type TestDatabase,
} from '#server/testing/database.js';
import { added, filesOf, ORDER_ITEMS, SUPPLIERS } from './generated.js';
import { ScratchCopy } from './scratch-copy.js';

const KINDS = ['the embedded database', 'a database of one’s own'] as const;
const ROWS = 'outdatedWareID,name\ns1,One\ns2,Two\n';
const PENDING = 'catalogue: The schema is not up to date: run catalogue migrate first\n';

let copy: ScratchCopy;
let database: TestDatabase;

beforeAll(async () => {
  copy = await ScratchCopy.make();
  database = await createDatabase();
  const generated = await copy.resources([
    ['scratchSuppliers', SUPPLIERS],
    ['scratchOrderItems', ORDER_ITEMS],
  ]);
  expect(generated).toMatchObject([{ status: 0 }, { status: 0 }]);
  await copy.transpile();
});
afterAll(async () => {
  await copy.remove();
  await database.drop();
});

// What each test changes, those after it build on.
describe('A resource that changes', () => {
  const entity = 'src/scratch-suppliers/scratch-supplier.entity.ts';

  /** Replaces texts in a file of the copy, each of which must be there. */
  async function edit(file: string, ...replacements: [from: string, to: string][]): Promise<void> {
    let text = await readFile(join(copy.folder, file), 'utf8');
    for (const [from, to] of replacements) {
      expect(text).toContain(from);
      text = text.replace(from, to);
    }
    await writeFile(join(copy.folder, file), text);
  }

  /** What `npm run migration --` does. */
  async function migration(...args: string[]): Promise<CommandResult> {
    await copy.transpile();
    return copy.catalogue(['migration', ...args], database.url);
  }

  /** Builds, migrates, and says what is off then. */
  async function verify(): Promise<string[]> {
    await copy.transpile();
    const [migrated, verified] = await copy.catalogues([['migrate'], ['verify']], database.url);
    expect(migrated).toMatchObject({ status: 0 });
    return verified?.stdout.split('\n').filter(Boolean) ?? [];
  }

  it('needs no migration as long as its entity stays the same', async () => {
    const commands = [['migrate'], ['migration', 'nothing']];
    expect(await copy.catalogues(commands, database.url)).toMatchObject([
      { status: 0 },
      {
        stdout: 'There is nothing to write: the tables are what the entities say\n',
        status: 0,
      },
    ]);
  });

  it('has the databases dropped that a killed command has left', async () => {
    const [left, entered, named] = [1, 2, 3].map(
      () => `catalogue_migration_${randomBytes(6).toString('hex')}`,
    ) as [string, string, string];
    const client = await connectedTo(database.url);
    for (const name of [left, entered, named]) await client.query(`CREATE DATABASE ${name}`);
    // A command in its database, and one that is not in it yet.
    await client.query(`SET application_name = ${named}`);
    const url = new URL(database.url);
    url.pathname = `/${entered}`;
    const other = await connectedTo(url.href);
    try {
      const nothing = await copy.catalogue(['migration', 'nothing'], database.url);
      expect(nothing).toMatchObject({ status: 0 });
      const { rows } = await client.query<{ datname: string }>(
        'SELECT datname FROM pg_database WHERE datname = ANY($1)',
        [[left, entered, named]],
      );
      expect(rows.map(({ datname }) => datname).sort()).toEqual([entered, named].sort());
    } finally {
      await other.end();
      for (const name of [left, entered, named])
        await client.query(`DROP DATABASE IF EXISTS ${name}`);
      await client.end();
    }
  });

  it('is refused a column that the rows there cannot have', async () => {
    await edit(entity, [
      '  @CreateDateColumn',
      '  @Column(nameColumn)\n  phone!: string;\n\n  @CreateDateColumn',
    ]);
    expect(await migration('add-supplier-phone')).toMatchObject({
      stderr:
        'catalogue: The scratch_suppliers that are there have no phone: let it be null, or give it a default\n',
      status: 1,
    });
  });

  it('has its migration written by a command, and what is declared of it installed', async () => {
    await edit(
      entity,
      [
        '@Column(nameColumn)\n  phone!: string;',
        '@Column({ ...nameColumn, nullable: true })\n  phone!: string | null;',
      ],
      ['counted: [', `counted: ['phone', `],
      ['filtered: [', `filtered: ['phone', `],
      ['sorted: [', `sorted: ['phone', `],
    );
    await copy.transpile();
    const command = ['migration', 'add-supplier-phone'];
    const files = await added(copy, async () => {
      expect(await copy.catalogues([command, command], database.url)).toMatchObject([
        { stderr: '', status: 0 },
        { stderr: expect.stringMatching(/There is .*-add-supplier-phone.ts already/), status: 1 },
      ]);
    });
    expect(files).toEqual(['src/migrations/<time>-add-supplier-phone.ts']);
    expect(await verify()).toEqual(['Nothing is off']);
  });

  it('is told which filter and which sort no index serves, and what index they need', async () => {
    await edit(entity, [
      '  @CreateDateColumn',
      '  @Column({ ...nameColumn, nullable: true })\n  nick!: string | null;\n\n  @CreateDateColumn',
    ]);
    await edit(
      'src/scratch-suppliers/list-scratch-suppliers.dto.ts',
      [`sort: [`, `sort: ['nick', `],
      [
        `  @TextParam('The scratch suppliers whose country is this.'`,
        `  @TextParam('The scratch suppliers of this nick.')\n  nick?: string;\n\n  @TextParam('The scratch suppliers whose country is this.'`,
      ],
    );
    // An enumeration of the other resource, whose type TypeORM names. It is removed with it below.
    await edit('src/scratch-order-items/scratch-order-item.entity.ts', [
      '  @CreateDateColumn',
      `  @Column({ type: 'enum', enum: ScratchOrderItemKind, nullable: true })\n  Grade!: ScratchOrderItemKind | null;\n\n  @CreateDateColumn`,
    ]);
    expect(await migration('add-supplier-nick')).toMatchObject({ status: 0 });
    const lacking = 'of scratch_suppliers, which needs one on ("nick"';
    expect((await verify()).sort()).toEqual([
      `no index serves the filter nick ${lacking}, "scratchSupplierID")`,
      `no index serves the sort nick ${lacking}, "scratchSupplierID")`,
    ]);
  });

  it.each<[string, [string, string][], RegExp]>([
    [
      'a text that grows shorter, which TypeORM would empty',
      [['length: 10_000', 'length: 5_000']],
      /scratch_order_items.note changes its type, which would empty it: .* --empty .* TYPE character varying\(5000\)/,
    ],
    [
      'an enumeration that loses a value',
      [[`  SOLD_OUT = 'SOLD_OUT',\n`, '']],
      /only with --destructive: CREATE TYPE .*"scratch_order_item_type" AS ENUM\('in-stock', 'new'\)/,
    ],
  ])('is refused %s', async (_, replacements, message) => {
    const file = 'src/scratch-order-items/scratch-order-item.entity.ts';
    const before = await readFile(join(copy.folder, file), 'utf8');
    await edit(file, ...replacements);
    const result = await migration('something');
    await writeFile(join(copy.folder, file), before);
    expect(result.stderr).toMatch(message);
    expect(result.status).toBe(1);
  });

  it('may have a migration without statements, for SQL of its author', async () => {
    const nowhere = 'postgres://127.0.0.1:1/nowhere';
    const files = await added(copy, async () => {
      const { stdout } = await copy.catalogue(['migration', '--empty', 'own-sql'], nowhere);
      const text = await readFile(join(copy.folder, stdout.trim()), 'utf8');
      expect(text).toContain('const UP: readonly string[] = [];');
      expect(text).toContain('const DOWN: readonly string[] = [];');
    });
    expect(files).toEqual(['src/migrations/<time>-own-sql.ts']);
  });

  it('loses nothing by a migration unless it is told to', async () => {
    await edit(
      entity,
      ['  @Column({ ...nameColumn, nullable: true })\n  phone!: string | null;\n\n', ''],
      [`counted: ['phone', `, 'counted: ['],
      [`filtered: ['phone', `, 'filtered: ['],
      [`sorted: ['phone', `, 'sorted: ['],
    );
    await copy.transpile();
    const command = ['migration', 'drop-supplier-phone'];
    expect(
      await copy.catalogues([command, [...command, '--destructive']], database.url),
    ).toMatchObject([
      {
        stderr:
          'catalogue: This loses what is there, and is written only with --destructive: ALTER TABLE "scratch_suppliers" DROP COLUMN "phone"\n',
        status: 1,
      },
      { status: 0 },
    ]);
  });
});

describe('A resource that is removed', () => {
  it('loses its files and its line of the module, and by a migration its tables', async () => {
    const module = join(copy.folder, 'src/app.module.ts');
    expect(await readFile(module, 'utf8')).toContain('ScratchOrderItems');
    const before = await copy.files();
    const files = await added(copy, async () => {
      expect(
        await copy.resources([
          // Refused while another refers to it, or if there is none.
          ['brands', '--remove'],
          ['scratch_things', '--remove'],
          ['scratch_order_items', '--remove'],
        ]),
      ).toMatchObject([
        {
          stderr: expect.stringMatching(/brands is used by src\/products\/product.entity.ts, /),
          status: 1,
        },
        {
          stderr: expect.stringContaining('There is no resource scratch_things'),
          status: 1,
        },
        { stderr: expect.stringContaining('drops the table of scratch order items'), status: 0 },
      ]);
    });
    expect(files).toEqual(['src/migrations/<time>-remove-scratch-order-items.ts']);
    const left = await copy.files();
    expect(before.filter((file) => !left.includes(file))).toEqual(
      filesOf('scratch-order-items', 'scratch-order-item').filter(
        (file) => !file.includes('migrations'),
      ),
    );
    expect(await readFile(module, 'utf8')).not.toContain('ScratchOrderItems');
    // Those of the tests before as well: entities with a column more, and the migrations of all.
    const sources = left.filter((file) =>
      /-suppliers?[./-]|supplier-|-order-items|own-sql|app\.module/.test(file),
    );
    expect(sources.filter((file) => file.includes('migrations'))).toHaveLength(7);
    expect(await copy.check(sources)).toEqual({ stdout: '', stderr: '', status: 0 });
    await copy.transpile();
    const [migrated, verified] = await copy.catalogues([['migrate'], ['verify']], database.url);
    expect(migrated).toMatchObject({ status: 0 });
    expect(verified?.stdout).toContain('scratch_suppliers');
    expect(verified?.stdout).not.toContain('scratch_order_items');
    const rows = await queryOn(
      database.url,
      `SELECT relname FROM pg_class WHERE relname LIKE 'scratch\\_order%'
       UNION ALL SELECT typname FROM pg_type WHERE typname LIKE '%scratch\\_order%'
       UNION ALL SELECT proname FROM pg_proc WHERE proname LIKE '%scratch\\_order%'
       UNION ALL SELECT resource FROM tallies WHERE resource LIKE 'scratch\\_order%'`,
    );
    expect(rows).toEqual([]);
  });

  it('may be generated again', async () => {
    expect(await copy.resources([['scratch_order_items', 'a:text']])).toMatchObject([
      { status: 0 },
    ]);
    await copy.transpile();
    expect(await copy.catalogue(['migrate'], database.url)).toMatchObject({ status: 0 });
  });
});

describe('The databases of a resource', () => {
  let own: TestDatabase;
  let environments: Record<(typeof KINDS)[number], NodeJS.ProcessEnv>;
  /** The embedded server, which each command would otherwise start and stop. */
  let server: EmbeddedServer | undefined;

  beforeAll(async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'catalogue-removed-'));
    // Root runs the server as another user, who has to get in.
    await chmod(dataDir, 0o755);
    own = await createDatabase({ migrated: false });
    environments = {
      'the embedded database': { DATA_DIR: dataDir },
      'a database of one’s own': { DATABASE_URL: own.url },
    };
    const [generated] = await copy.resources([
      ['outdatedWares', 'name:text:words,state:enum=ON/OFF:null'],
    ]);
    expect(generated).toMatchObject({ status: 0 });
    await copy.transpile();
  });
  afterAll(async () => {
    await own.drop();
    await server?.release();
    await rm(environments['the embedded database'].DATA_DIR ?? '', { recursive: true });
  });

  /** The name of the migration in a file, such as `RemoveOutdatedWares1795379128613`. */
  async function migrationOf(action: 'create' | 'remove'): Promise<string> {
    const files = await readdir(join(copy.folder, 'src/migrations'));
    const file = files.find((name) => name.endsWith(`-${action}-outdated-wares.ts`)) ?? '';
    const time = /^\d+/.exec(file)?.[0] ?? '';
    return `${action === 'create' ? 'Create' : 'Remove'}OutdatedWares${time}`;
  }

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
      // A project may list an external table, which this database has not.
      expect((await run('verify')).stdout).not.toMatch(/outdated|pending/);
    });
  });
});
