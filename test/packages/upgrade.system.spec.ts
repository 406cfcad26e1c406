import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { databaseOptions } from '#server/database/database-client.js';
import { connectedTo, createDatabase, type TestDatabase } from '#server/testing/database.js';
import { transpile } from '../../transpile.mjs';
import { runNode } from '../cli/catalogue.js';
import { CommandHost } from '../cli/command-host.js';
import { schemaOf } from '../database/definition.js';
import { Instance } from '../faults/instance.js';

const SERVER = 'node_modules/@catalogue/server';
const ITEMS = 20_000;

const ENVIRONMENT = { DRAIN_MS: '1000', RATE_LIMIT_PER_MINUTE: '0' };

/** Lists, and a query for the objects of each. Writers leave their numbers as they are. */
const LISTS = [
  ['/items?limit=1', 'SELECT FROM items'],
  ['/items?kind=lamp&limit=1', `SELECT FROM items WHERE kind = 'lamp'`],
  ['/items?grade=3&sort=-price&limit=1', 'SELECT FROM items WHERE grade = 3'],
  ['/items?kind=chair&grade=1&limit=1', `SELECT FROM items WHERE kind = 'chair' AND grade = 1`],
  ['/items?priceMin=50&sort=price&offset=99&limit=1', 'SELECT FROM items WHERE price >= 50'],
  ['/items?q=oak&limit=1', `SELECT FROM items WHERE name LIKE '%Oak%'`],
  ['/makers?country=DE&limit=1', `SELECT FROM makers WHERE country = 'DE'`],
  ['/colours?limit=1', 'SELECT FROM colours'],
] as const;

/** Projects of the version N, and of the one after it. */
let former: string;
let next: string;
let scratch: string;
let database: TestDatabase;
let dataSource: DataSource;
const started: Instance[] = [];
/** Ends what runs beside the instances. */
const ends: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'catalogue-upgrade-'));
  await symlink(resolve('node_modules'), join(scratch, 'node_modules'));
  database = await createDatabase({ migrated: false });
  dataSource = await new DataSource(databaseOptions(database.url)).initialize();
  former = await createProject(join(scratch, 'former'));
  next = join(scratch, 'next');
  await cp(former, next, { recursive: true });
  await raise(next);
});
afterAll(async () => {
  for (const end of ends) await end().catch(() => undefined);
  await Promise.all(started.map((instance) => instance.kill()));
  await dataSource.destroy();
  await database.drop();
  await rm(scratch, { recursive: true });
});

/** What `npm run create` and `npm install` make, with three resources, of which one has a further column. */
async function createProject(folder: string): Promise<string> {
  await cp('packages/server/template', folder, { recursive: true });
  await cp('.prettierrc', join(folder, '.prettierrc'));
  for (const part of ['package.json', 'dist'])
    await cp(join('packages/server', part), join(folder, SERVER, part), { recursive: true });
  await mkdir(join(folder, 'test'));
  const host = new CommandHost(folder);
  const program = resolve('test/fixtures/generate-resource.mjs');
  for (const args of [
    ['makers', 'name:text:words:sort,country:text=2:several:counted'],
    [
      'items',
      'name:text:words:sort,kind:text=40:several:counted,grade:integer:several,price:decimal:interval:sort,makerID:reference=makers:null:several',
    ],
    ['colours', 'name:text:sort'],
  ])
    expect(await host.run(args, { program })).toMatchObject({ stderr: '', status: 0 });
  await host.end();
  await edit(join(folder, 'src/colours/colour.entity.ts'), '  @CreateDateColumn', (text) => {
    return `  @Meaning('The colour in hexadecimal.')\n  @Column({ ...nameColumn, nullable: true })\n  hex!: string | null;\n\n${text}`;
  });
  await build(folder);
  expect(await run(folder, 'migration', 'add-hex')).toMatchObject({ status: 0 });
  await build(folder);
  return folder;
}

/** Makes it a project of a next version, which has another step, other functions and another tally. */
async function raise(folder: string): Promise<void> {
  const server = join(folder, SERVER);
  const version = '999.0.0';
  await edit(join(server, 'package.json'), /"version": ".*"/, () => `"version": "${version}"`);
  // The former function is dropped under instances of N, which call it for each list.
  await writeFile(
    join(server, 'dist/database/engine/999-release.sql'),
    `ALTER TABLE resource_versions ADD release text; DROP FUNCTION IF EXISTS resource_version(text[]);`,
  );
  const functions = join(server, 'dist/database/functions');
  await edit(
    join(functions, 'versions.sql'),
    'FUNCTION resource_version(resources text[])',
    () => `FUNCTION resource_version(resources text[], release text DEFAULT '${version}')`,
  );
  await edit(
    join(functions, 'tally.sql'),
    '.resource_versions (resource) VALUES (%3$L)',
    () => `.resource_versions (resource, release) VALUES (%3$L, '${version}')`,
  );
  const entity = join(folder, 'src/items/item.entity.ts');
  await edit(entity, `counted: ['kind']`, () => `counted: ['grade', ['kind', 'grade']]`);
  await build(folder);
}

async function edit(
  path: string,
  from: string | RegExp,
  to: (found: string) => string,
): Promise<void> {
  const text = await readFile(path, 'utf8');
  const changed = text.replace(from, to);
  expect(changed).not.toBe(text);
  await writeFile(path, changed);
}

function build(folder: string): Promise<void> {
  return transpile(join(folder, 'src'), join(folder, 'dist'));
}

function run(folder: string, ...args: string[]) {
  return runNode(['dist/main.js', ...args], {
    folder,
    environment: { DATABASE_URL: database.url },
  });
}

async function start(folder: string): Promise<Instance> {
  const instance = await Instance.start(database.url, ENVIRONMENT, folder);
  started.push(instance);
  return instance;
}

const query = (text: string) => dataSource.query<unknown[]>(text);
const engine = () => query('SELECT * FROM engine ORDER BY name');

/** Repeats work until it is stopped. Returns how often it was done. */
function repeated(work: (turn: number) => Promise<void>): { stop: () => Promise<number> } {
  const over = new AbortController();
  const done = (async () => {
    let turn = 0;
    for (; !over.signal.aborted; turn += 1) await work(turn);
    return turn;
  })();
  const stop = () => {
    over.abort();
    return done;
  };
  ends.unshift(stop);
  // Awaited when it is stopped.
  done.catch(() => undefined);
  return { stop };
}

it('Two instances are upgraded one after the other beside readers and writers', async () => {
  expect(await run(former, 'migrate')).toMatchObject({ status: 0 });
  await query(
    `INSERT INTO makers ("makerID", name, country)
     SELECT 'm' || i, 'Maker ' || i, (ARRAY['DE', 'FR', 'IT'])[1 + i % 3] FROM generate_series(1, 300) i;
     INSERT INTO items ("itemID", name, kind, grade, price, "makerID")
     SELECT 'i' || i, CASE i % 3 WHEN 0 THEN 'Oak ' ELSE 'Ash ' END || i, (ARRAY['lamp', 'chair', 'table', 'shelf'])[1 + i % 4],
       i % 5, i % 100, 'm' || 1 + i % 300 FROM generate_series(1, ${ITEMS}) i;
     INSERT INTO colours ("colourID", name, hex) VALUES ('c', 'Red', 'ff0000')`,
  );
  await run(former, 'client', 'create', 'shop');
  const { stdout: token } = await run(former, 'token', 'issue', 'shop');
  const headers = { 'X-Client-ID': 'shop', Authorization: `Bearer ${token.trim()}` };

  const serving = await Promise.all([start(former), start(former)]);
  const counts = async () => Promise.all(LISTS.map(async ([, sql]) => (await query(sql)).length));
  const expected = await counts();
  const failures: unknown[] = [];
  const readers = [0, 1].map((reader) =>
    repeated(async (turn) => {
      const instance = serving[turn % serving.length];
      if (!instance) return;
      const at = (turn + reader * 3) % LISTS.length;
      const [path = ''] = LISTS[at] ?? [];
      const answer = await fetch(`${instance.address}${path}`, { headers });
      const { result, response_data: data } = (await answer.json()) as Answer;
      if (answer.status !== 200 || Number(data?.count) !== expected[at])
        failures.push({ path, result, count: data?.count, expected: expected[at] });
      const ready = await fetch(`${instance.adminAddress}/health/ready`);
      if (ready.status !== 200 && serving.includes(instance)) failures.push(await ready.json());
    }),
  );
  const connections = await Promise.all(['items', 'makers'].map(() => connectedTo(database.url)));
  ends.push(...connections.map((connection) => () => connection.end()));
  const [toItems, toMakers] = connections as [Connection, Connection];
  const writers = [
    repeated(async (turn) => {
      const columns = `name, kind, grade, price, "makerID"`;
      await toItems.query(
        `UPDATE items SET kind = CASE kind WHEN 'lamp' THEN 'chair' ELSE 'lamp' END WHERE "itemID" IN (
           (SELECT "itemID" FROM items WHERE kind = 'lamp' AND grade = 2 LIMIT 1),
           (SELECT "itemID" FROM items WHERE kind = 'chair' AND grade = 2 LIMIT 1))`,
      );
      // One object goes, and another one with the same values comes.
      const gone = `"itemID" = 'i${turn + 1}'`;
      await toItems.query('BEGIN');
      await toItems.query(
        `INSERT INTO items ("itemID", ${columns}) SELECT 'i${turn + 1 + ITEMS}', ${columns} FROM items WHERE ${gone}`,
      );
      await toItems.query(`DELETE FROM items WHERE ${gone}`);
      await toItems.query('COMMIT');
      await sleep(5);
    }),
    repeated(async () => {
      await toMakers.query(
        `UPDATE makers SET country = CASE country WHEN 'DE' THEN 'FR' ELSE 'DE' END WHERE "makerID" IN (
           (SELECT "makerID" FROM makers WHERE country = 'DE' LIMIT 1),
           (SELECT "makerID" FROM makers WHERE country = 'FR' LIMIT 1))`,
      );
      await sleep(5);
    }),
  ];
  /** Starts an instance, which serves in place of the oldest one. */
  const replaceBy = async (folder: string): Promise<Instance> => {
    const instance = await start(folder);
    serving.push(instance);
    await sleep(1000);
    expect(await serving.shift()?.stop()).toMatchObject({ status: 0 });
    await sleep(1000);
    return instance;
  };

  const before = await schemaOf(dataSource);
  const first = await replaceBy(next);
  expect(first.output).toContain('Installed the tally of items');
  const upgraded = [await schemaOf(dataSource), await engine()];
  expect(upgraded[0]).not.toEqual(before);
  // The instance of N that is left ends, and another one of N starts in its place.
  const restarted = await replaceBy(former);
  expect(restarted.output).not.toContain('Installed');
  expect([await schemaOf(dataSource), await engine()]).toEqual(upgraded);
  serving.reverse();
  await replaceBy(next);
  const dry = await run(next, 'migrate', '--dry-run');
  expect(dry.stdout).toContain('items');
  expect([await schemaOf(dataSource), await engine()]).toEqual(upgraded);
  expect(await run(next, 'migrate')).toMatchObject({ status: 0 });
  await sleep(1000);

  const reads = await Promise.all(readers.map(({ stop }) => stop()));
  const writes = await Promise.all(writers.map(({ stop }) => stop()));
  console.info(`${reads.join(' + ')} requests, ${writes.join(' + ')} writes`);
  expect(failures).toEqual([]);
  expect(Math.min(...reads, ...writes)).toBeGreaterThan(50);
  expect(await counts()).toEqual(expected);
  expect(await run(next, 'verify')).toEqual({
    status: 0,
    stdout: 'Nothing is off\n',
    stderr: '',
  });

  const migrated = await schemaOf(dataSource);
  const fresh = await createDatabase({ migrated: false });
  try {
    const environment = { DATABASE_URL: fresh.url };
    const { status } = await runNode(['dist/main.js', 'migrate'], { folder: next, environment });
    expect(status).toBe(0);
    const other = await new DataSource(databaseOptions(fresh.url)).initialize();
    expect(migrated).toEqual(await schemaOf(other));
    await other.destroy();
  } finally {
    await fresh.drop();
  }
});

interface Answer {
  readonly result: unknown;
  readonly response_data?: { readonly count: string };
}

type Connection = Awaited<ReturnType<typeof connectedTo>>;
