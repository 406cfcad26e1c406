import { afterAll, beforeAll, expect } from '@jest/globals';
import {
  type ChildProcessWithoutNullStreams,
  execFile,
  spawn,
  spawnSync,
} from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { PROJECT } from './project.js';
import { connectedTo } from '#server/testing/database.js';
import { loadDemonstration } from '#server/demo/load-demonstration.js';
import { BARE_ENVIRONMENT } from './cli/catalogue.js';
import { fencesOf } from './docs/markdown.js';
import { Random } from '#server/testing/random.js';
import { type Service, startService, whileOverloaded } from './service.js';
import { withTool } from './tools.js';
import { eventually, until } from './until.js';
import { advanceWatermark } from './watermark.js';

const run = promisify(execFile);
const FOLDER = resolve('examples/mirror');
const python = withTool({
  name: 'python3',
  isThere: spawnSync('python3', ['--version']).error === undefined,
  install: 'apt-get install python3',
});
const packages = withTool({
  name: 'examples/mirror/node_modules',
  isThere: existsSync(join(FOLDER, 'node_modules')),
  install: 'npm --prefix examples/mirror ci',
});

/** The duration of each run beside writers; set MIRROR_SECONDS for a longer one. */
const SECONDS = Number(process.env.MIRROR_SECONDS ?? 6);
const WRITERS = 4;
/** How often a copy is killed beside writers, also on a busy machine. */
const MINIMUM_KILLS = 6;
/** Products that are never deleted. Writers move stock between them, so that its sum never changes. */
const ACCOUNTS = Array.from({ length: 10 }, (_, at) => `account-${at}`);
const STOCK = 1000;
/** The file of the copy in SQLite. */
const FILE = 'catalogue.db';

/** The public form of the fields that PostgreSQL shows in another one. */
const SHOWN: Readonly<Record<string, string>> = {
  colours: 'to_jsonb(colours)::text',
  createdAt: `to_char("createdAt" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  updatedAt: `to_char("updatedAt" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
};

let service: Service;
/** A copy of the example. */
let folder: string;
const programs = new Set<Program>();

beforeAll(async () => {
  service = await startService();
  await loadDemonstration(PROJECT, service.dataSource);
  await advanceWatermark(service.dataSource, 2);
  folder = await mkdtemp(join(tmpdir(), 'catalogue-mirror-'));
  for (const name of ['mirror.py', 'search.js', 'package.json']) {
    await cp(join(FOLDER, name), join(folder, name));
  }
  await symlink(join(FOLDER, 'node_modules'), join(folder, 'node_modules'));
});
afterAll(async () => {
  for (const program of programs) program.child.kill('SIGKILL');
  await service.stop();
  await rm(folder, { recursive: true });
});

/** Where programs run, and with what: by default as the client of the demonstration. */
function surroundings(environment: NodeJS.ProcessEnv = {}) {
  const CATALOGUE_URL = `http://127.0.0.1:${service.port}`;
  return { cwd: folder, env: { ...BARE_ENVIRONMENT, CATALOGUE_URL, ...environment } };
}

/** A program of the example that runs until it is killed. */
class Program {
  readonly child: ChildProcessWithoutNullStreams;
  errors = '';
  private readonly ended: Promise<unknown>;

  constructor(command: string, ...args: string[]) {
    this.child = spawn(command, args, surroundings());
    this.child.stderr.on('data', (chunk: Buffer) => (this.errors += chunk.toString()));
    this.ended = once(this.child, 'close');
    programs.add(this);
  }

  /** Kills it. Throws what it wrote to stderr if it has ended by itself. */
  async kill(): Promise<void> {
    const isRunning = this.child.kill('SIGKILL');
    await this.ended;
    if (!isRunning) throw new Error(`${this.child.spawnfile} has ended: ${this.errors}`);
  }
}

/** Runs a round of the copy in SQLite. Gives what the program has written to stderr. */
async function mirrorOnce(): Promise<string> {
  const { stderr } = await run('python3', ['mirror.py', FILE, '--once'], surroundings());
  return stderr;
}

/** Executes a statement in the copy in SQLite, and gives its rows. */
async function inSQLite<Row extends object = object>(sql: string): Promise<Row[]> {
  const program = `import json, sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.row_factory = sqlite3.Row
with db:
    print(json.dumps([dict(row) for row in db.execute(sys.argv[2])]))`;
  const { stdout } = await run('python3', ['-c', program, FILE, sql], {
    ...surroundings(),
    maxBuffer: Infinity,
  });
  return JSON.parse(stdout) as Row[];
}

/** The products that a copy lacks, or has in excess, with all fields that it has. */
async function differences(copy: readonly object[]): Promise<unknown[]> {
  // The name of the brand is of another resource.
  const fields = Object.keys(copy[0] ?? {}).filter((field) => field !== 'brand');
  const there = fields.map((field) => `${SHOWN[field] ?? `"${field}"::text`} AS "${field}"`);
  const copied = fields.map((field) => `object ->> '${field}' AS "${field}"`);
  return service.dataSource.query(
    `WITH there AS (SELECT ${there.join()} FROM products),
       copy AS (SELECT ${copied.join()} FROM json_array_elements($1) object)
     (SELECT 'missing' AS difference, each.* FROM (TABLE there EXCEPT ALL TABLE copy) each)
     UNION ALL (SELECT 'left over', each.* FROM (TABLE copy EXCEPT ALL TABLE there) each)`,
    [JSON.stringify(copy)],
  );
}

async function expectExactInSQLite(): Promise<void> {
  expect(await differences(await inSQLite('SELECT * FROM products'))).toEqual([]);
}

/** Expects the commands below a heading of the README to print what it says. */
async function expectAsPrinted(heading: string, withoutLine = ''): Promise<void> {
  const { fences } = fencesOf(await readFile(join(FOLDER, 'README.md'), 'utf8'));
  const [commands, output] = fences.filter((fence) => fence.heading === heading);
  const script = (commands?.text ?? '').replace(withoutLine, '');
  const { stdout } = await run('bash', ['-ec', script], surroundings());
  expect(stdout.trimEnd()).toBe(output?.text.trimEnd());
}

/** A text that is neither the beginning of another one nor similar to it. */
const newName = (): string => randomBytes(12).toString('hex');

/** One statement at random. */
function change(random: Random): string {
  const one = () => `'w${random.below(200)}'`;
  const kind = random.number();
  if (kind < 0.35) {
    return `INSERT INTO products ("productID", type, name, price, currency, colours)
            VALUES (${one()}, 'DIGITAL', '${newName()}', ${random.below(500)}.50, 'EUR', '{red,"a, b"}'),
                   ('x${newName()}', 'PHYSICAL', '${newName()}', NULL, NULL, NULL)
            ON CONFLICT ("productID") DO UPDATE SET name = excluded.name, price = excluded.price`;
  }
  if (kind < 0.5) {
    return `UPDATE products SET name = '${newName()}' WHERE "productID" = ${one()}`;
  }
  if (kind < 0.65) {
    return `UPDATE products SET "productID" = 'y${newName()}' WHERE "productID" = ${one()}`;
  }
  if (kind < 0.7) return `DELETE FROM products WHERE "productID" ~ '^[xy].*${random.below(10)}$'`;
  if (kind < 0.85) return `DELETE FROM products WHERE "productID" = ${one()}`;
  const [from, to] = [random.pick(ACCOUNTS), random.pick(ACCOUNTS)];
  return `UPDATE products SET stock = stock - ("productID" = '${from}')::int + ("productID" = '${to}')::int
          WHERE "productID" IN ('${from}', '${to}')`;
}

/** Writes until `isOver`. Some transactions commit late, and some roll back. */
async function write(random: Random, isOver: () => boolean): Promise<void> {
  const client = await connectedTo(service.database.url);
  while (!isOver()) {
    try {
      await client.query('BEGIN');
      for (let step = 0; step < 3; step += 1) await client.query(change(random));
      // Long after its writes have their times.
      if (random.chance(0.1)) await sleep(random.below(2000));
      await client.query(random.chance(0.15) ? 'ROLLBACK' : 'COMMIT');
    } catch (error) {
      // Deadlocks with other writers are expected.
      if (!(error as { code?: string }).code?.startsWith('40')) throw error;
      await client.query('ROLLBACK');
    }
    await sleep(random.below(10));
  }
  await client.end();
}

/** Does something beside writers while the watermark advances: for `SECONDS`, and until it returns. */
async function besideWriters(follow: (isOver: () => boolean) => Promise<void>): Promise<void> {
  await service.load(
    'products',
    ACCOUNTS.map((productID) => ({ productID, type: 'SERVICE', stock: STOCK })),
  );
  const end = performance.now() + SECONDS * 1000;
  let isFollowing = true;
  const advance = async () => {
    while (isFollowing) {
      await service.dataSource.query(`SELECT advance_watermark('1 ms')`);
      await sleep(50);
    }
  };
  const followToTheEnd = async () => {
    try {
      await follow(() => performance.now() > end);
    } finally {
      isFollowing = false;
    }
  };
  const writers = Array.from({ length: WRITERS }, (_, at) =>
    write(new Random(`copied writer ${at}`), () => !isFollowing),
  );
  await Promise.all([followToTheEnd(), advance(), ...writers]);
}

python.describe('A copy in SQLite', () => {
  // First, since it prints the numbers of the demonstration.
  python.it('is made and read by the commands of the README', async () => {
    await expectAsPrinted('In SQLite');
    await expectExactInSQLite();
  });

  python.it(
    'is exact beside writers, and at any time that of a round, however it is killed',
    async () => {
      const sums = new Set<number>();
      const look = async () => {
        const [row] = await inSQLite<{ stock: number; accounts: number }>(
          `SELECT total(stock) AS stock, count(*) AS accounts FROM products WHERE productID LIKE 'account-%'`,
        );
        if (row?.accounts) sums.add(row.stock);
      };
      await besideWriters(async (isOver) => {
        const random = new Random('killed copy');
        for (let kills = 0; kills < MINIMUM_KILLS || !isOver(); kills += 1) {
          const mirror = new Program('python3', 'mirror.py', FILE);
          await sleep(100 + random.below(random.chance(0.3) ? 2500 : 400));
          await look();
          await mirror.kill();
          await look();
        }
      });
      expect([...sums]).toEqual([ACCOUNTS.length * STOCK]);
      await inSQLite('PRAGMA integrity_check').then((rows) => {
        expect(rows).toEqual([{ integrity_check: 'ok' }]);
      });
      expect(await mirrorOnce()).toBe('');
      await expectExactInSQLite();
    },
  );

  python.it('has nothing of a round in whose middle it is killed', async () => {
    await mirrorOnce();
    const state = () => inSQLite('SELECT * FROM products LEFT JOIN mark');
    const before = await state();
    const { dataSource } = service;
    await dataSource.query(`DELETE FROM products WHERE "productID" = 'account-0'`);
    await dataSource.query(`UPDATE products SET name = 'late' WHERE "productID" = 'account-1'`);
    const locking = dataSource.createQueryRunner();
    await locking.startTransaction();
    await locking.query('LOCK TABLE products_deletions');
    const mirror = new Program('python3', 'mirror.py', FILE);
    // It has read the changes, and waits for the deletions.
    await until(async () => {
      const waiting: unknown[] = await dataSource.query(
        `SELECT FROM pg_locks WHERE NOT granted AND relation = 'products_deletions'::regclass`,
      );
      return waiting.length > 0;
    });
    expect(await state()).toEqual(before);
    await mirror.kill();
    await locking.rollbackTransaction();
    await locking.release();
    expect(await state()).toEqual(before);
    expect(await mirrorOnce()).toBe('');
    await expectExactInSQLite();
  });

  python.it.each([
    [
      '-26',
      'deletions are not kept since its mark',
      () => inSQLite(`UPDATE mark SET since = '2001' || substr(since, 5)`),
    ],
    [
      '-38',
      'changes were lost that it has',
      async () => {
        await advanceWatermark(service.dataSource, 2);
        await mirrorOnce();
        // As after a restore.
        await service.dataSource.query('UPDATE watermark SET timeline = NULL');
        await advanceWatermark(service.dataSource, 1);
      },
    ],
  ])('begins again after %s, when %s', async (errcode, _, lose) => {
    await mirrorOnce();
    await lose();
    await inSQLite(`INSERT INTO products (productID) VALUES ('lost')`);
    expect(await mirrorOnce()).toMatch(
      new RegExp(`^The copy begins again: .* \\(${errcode}\\)\n$`),
    );
    await expectExactInSQLite();
  });

  python.it('waits as the service says while that is busy, and ends if it is refused', async () => {
    const waiting = 'The service is busy (-4): again in 1 s\n';
    await whileOverloaded(service, async () => {
      const mirror = new Program('python3', 'mirror.py', FILE);
      await until(() => mirror.errors === waiting);
      await sleep(500);
      expect(mirror.errors).toBe(waiting);
      await until(() => mirror.errors === waiting.repeat(2));
      await mirror.kill();
    });
    const wrong = surroundings({ ACCESS_TOKEN: 'wrong' });
    await expect(run('python3', ['mirror.py', FILE], wrong)).rejects.toMatchObject({
      code: 1,
      stderr: 'The credentials are not valid (-11)\n',
    });
  });
});

packages.describe('A search index', () => {
  /** Asks for the products with words, or for all. */
  type Ask = (words: string) => Promise<{ productID: string; name: string | null }[]>;

  function startSearch(): Ask {
    const { child } = new Program('node', 'search.js');
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    return async (words) => {
      child.stdin.write(`${words}\n`);
      const found = [];
      for (let next = await lines.next(); next.value; next = await lines.next()) {
        found.push(JSON.parse(next.value));
      }
      return found;
    };
  }

  packages.it('is made and asked by the commands of the README', () =>
    expectAsPrinted('In a search index', 'npm ci\n'),
  );

  packages.it('is exact beside writers, and finds each product by its name alone', async () => {
    const ask = startSearch();
    const names = new Set<string>();
    await besideWriters(async (isOver) => {
      while (!isOver()) {
        for (const { name } of await ask('')) if (name && /^\w{24}$/.test(name)) names.add(name);
        await sleep(200);
      }
    });
    const copy = await eventually(async () => {
      const all = await ask('');
      expect(await differences(all)).toEqual([]);
      return all;
    });
    const present = new Map(copy.map(({ productID, name }) => [name, productID]));
    const sought = [...names].slice(-500);
    // Of both kinds, or nothing is shown.
    expect(new Set(sought.map((name) => present.has(name)))).toEqual(new Set([true, false]));
    for (const name of sought) {
      const found = (await ask(name)).map(({ productID }) => productID);
      expect([name, found]).toEqual([name, present.has(name) ? [present.get(name)] : []]);
    }
  });
});
