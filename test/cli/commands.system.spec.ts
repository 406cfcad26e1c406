import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createDatabase } from '#server/testing/database.js';
import { type Service, startService } from '../service.js';
import { eventually, until } from '../until.js';
import { BARE_ENVIRONMENT, type CommandResult } from './catalogue.js';
import { CommandHost } from './command-host.js';

let service: Service;
let folder: string;
const host = new CommandHost();

beforeAll(async () => {
  service = await startService();
  folder = await mkdtemp(join(tmpdir(), 'catalogue-commands-'));
});
afterAll(async () => {
  await host.end();
  await service.stop();
  await rm(folder, { recursive: true });
});

const run = (args: readonly string[], input?: string): Promise<CommandResult> =>
  host.run(args, { environment: { DATABASE_URL: service.database.url }, input });

/** Command lines that end with a status and one line on standard error which contains a message. */
function describeEnds(
  commandLines: readonly (readonly [readonly string[], number, string])[],
): void {
  it.each(commandLines)('%j ends with %i', async (args, status, message) => {
    const { stderr, ...result } = await run(args);
    expect(result).toEqual({ status, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr.trim().split('\n')).toHaveLength(1);
  });
}

describe('explain', () => {
  it('says the plan of a list, why others do not fit, the statement, and what PostgreSQL did', async () => {
    const explained = await run(['explain', '/products?type=PHYSICAL&sort=-price&offset=10']);
    expect(explained).toMatchObject({ status: 0, stderr: '' });
    expect(explained.stdout).toMatch(
      /^Plan: placed, counted by tally\nNot facet: it has another order\n/,
    );
    expect(explained.stdout).toMatch(/^Not identifiers: /m);
    expect(explained.stdout).toContain('WITH object AS NOT MATERIALIZED');
    expect(explained.stdout).toMatch(/^Values: \[.*"PHYSICAL"/m);
    expect(explained.stdout).toMatch(/^Execution Time: /m);
    const question = await run(['explain', '/products?q=belt?lamp&limit=3']);
    expect(question.stdout).toMatch(/^Values: \[.*"belt\?lamp"/m);
    const facet = await run(['explain', '/products?type=PHYSICAL']);
    expect(facet.stdout).toMatch(/^Plan: facet, counted by tally\n\nWITH/);
    const found = await run(['explain', '/products?q=rare']);
    expect(found.stdout).toMatch(/^Plan: ordered, counted by collected$/m);
    expect(found.stdout).toMatch(
      /^Not counted by tally: the tally alone does not always know the count\nNot counted by remembered: /m,
    );
  });

  describeEnds([
    [['explain', '/nothing'], 1, 'There is no list at /nothing'],
    [['explain', '/products?colour=red'], 1, '-23: '],
    [['explain', '/products?limit=x'], 1, '-2'],
    [['explain', '/products?name=%zz'], 1, '/products?name=%zz is no path and query of a list'],
    [['explain', '/products', '--client', 'none'], 1, 'There is no client none'],
    [['explain', '/facets/products?facets=type'], 1, 'There is no list at'],
  ]);
});

describe('client and token', () => {
  it('create a client and a token that is good at once, printed alone', async () => {
    expect(await run(['client', 'create', 'acme', '--name', 'Acme', '--rate-limit', '0'])).toEqual({
      status: 0,
      stdout: 'acme\n',
      stderr: '',
    });
    const issued = await run(['token', 'issue', 'acme', '--expires', 'never']);
    expect(issued.status).toBe(0);
    expect(issued.stdout).toMatch(/^[\w-]{43}\n$/);
    expect(issued.stderr).toMatch(/^[0-9a-f]{16} of acme, expires never\n$/);
    await service
      .anonymous()
      .get('/brands')
      .set('X-Client-ID', 'acme')
      .set('Authorization', `Bearer ${issued.stdout.trim()}`)
      .expect(200);
    const [tokenID = ''] = issued.stderr.split(' ');
    expect((await run(['token', 'list', 'acme'])).stdout).toMatch(
      new RegExp(`^tokenID\tcreated\texpires\n${tokenID}\t[^\t]+\tnever\n$`),
    );
    expect((await run(['token', 'revoke', tokenID])).status).toBe(0);
    expect(await run(['token', 'revoke', tokenID])).toEqual({
      status: 1,
      stdout: '',
      stderr: `catalogue: There is no token ${tokenID}\n`,
    });
  });

  it('are told by the log of PostgreSQL, before and after: who, what, how it ended, and no token', async () => {
    const by = `${userInfo().username}@${hostname()}`;
    const told = async (): Promise<unknown[]> => {
      const [{ log } = { log: '' }] = await service.dataSource.query<{ log: string }[]>(
        'SELECT pg_read_file(pg_current_logfile()) AS log',
      );
      expect(log).not.toContain(token);
      return log
        .split('\n')
        .filter((line) => line.includes('catalogue audit: role') && line.includes('"audited"'))
        .map((line) => JSON.parse(line.slice(line.indexOf('{'))) as { pid: number })
        .map(({ pid, ...entry }) => ({ ...entry, pid: pid > 0 }));
    };
    await run(['client', 'create', 'audited', '--rate-limit', '5']);
    const token = (await run(['token', 'issue', 'audited', '--expires', '12h'])).stdout.trim();
    const of = (command: string, args: string[], options: object, end: string) =>
      ['started', end].map((state) => ({
        by,
        pid: true,
        command,
        arguments: args,
        options,
        state,
      }));
    // By mistake, in place of its tokenID.
    await run(['token', 'revoke', token]);
    // What changes nothing is not told.
    await run(['token', 'list', 'audited']);
    await run(['import', 'audited', '-', '--set', "name=it's $$ a name\n"]);
    const expected = [
      ...of('client create', ['audited'], { rateLimit: 5 }, 'done'),
      ...of('token issue', ['audited'], { expires: 43_200_000 }, 'done'),
      ...of('import', ['audited', '-'], { set: { name: "it's $$ a name\n" } }, 'failed'),
    ];
    // The server writes its log a little later.
    await eventually(async () => {
      expect(await told()).toEqual(expected);
    });
  });

  it('list, disable and enable', async () => {
    await run(['client', 'create', 'second']);
    await run(['client', 'disable', 'second']);
    expect((await run(['client', 'list'])).stdout).toContain(
      'second\t\tdisabled\tdefault\tsecret\tall\tnone\n',
    );
    await run(['client', 'enable', 'second']);
    expect((await run(['client', 'list'])).stdout).toContain(
      'second\t\tenabled\tdefault\tsecret\tall\tnone\n',
    );
  });

  it('change the request limit of a client, and give it the default again', async () => {
    await run(['client', 'create', 'fourth']);
    for (const limit of ['2', '0', 'default']) {
      const updated = await run(['client', 'update', 'fourth', '--rate-limit', limit]);
      expect(updated).toEqual({ status: 0, stdout: '', stderr: '' });
      expect((await run(['client', 'list'])).stdout).toContain(`fourth\t\tenabled\t${limit}\t`);
    }
  });

  it('narrow what a client may read, and widen it again', async () => {
    const narrow = ['--resources', 'products,brands', '--hide', 'products.price', '--public'];
    await run(['client', 'create', 'fifth', ...narrow]);
    const list = async () => (await run(['client', 'list'])).stdout;
    expect(await list()).toContain(
      'fifth\t\tenabled\tdefault\tpublic\tproducts,brands\tproducts.price\n',
    );
    const hide = ['--hide', 'products.stock', '--hide', 'brands.name,products.refID'];
    await run(['client', 'update', 'fifth', ...hide]);
    expect(await list()).toContain('\tproducts.stock,brands.name,products.refID\n');
    await run(['client', 'update', 'fifth', '--hide', 'none']);
    expect(await list()).toContain('fifth\t\tenabled\tdefault\tpublic\tproducts,brands\tnone\n');
    await run(['client', 'update', 'fifth', '--resources', 'all', '--no-public']);
    expect(await list()).toContain('fifth\t\tenabled\tdefault\tsecret\tall\tnone\n');
  });

  it('expire in ninety days unless said', async () => {
    await run(['client', 'create', 'third']);
    const { stderr } = await run(['token', 'issue', 'third']);
    const expires = Date.parse(stderr.trim().split('expires ')[1] ?? '');
    expect(Math.round((expires - Date.now()) / 86_400_000)).toBe(90);
  });

  describeEnds([
    [['client', 'create', 'tester'], 1, 'The client tester exists already'],
    [['client', 'create', 'a b'], 1, 'A clientID must be 1 to 100 visible ASCII characters'],
    [['client', 'disable', 'none'], 1, 'There is no client none'],
    [['client', 'update', 'none', '--rate-limit', '1'], 1, 'There is no client none'],
    [['client', 'update', 'tester'], 2, 'name an option to change'],
    [
      ['client', 'update', 'tester', '--hide', 'products.cost'],
      1,
      'There is no field products.cost',
    ],
    [['client', 'create', 'x', '--resources', 'products,'], 1, 'There is no resource , only'],
    [['client', 'update', 'tester', '--rate-limit', 'many'], 2, "'many' is invalid"],
    [['token', 'issue', 'none'], 1, 'There is no client none'],
    [['token', 'list', 'none'], 1, 'There is no client none'],
    [['token', 'issue', 'tester', '--expires', 'soon'], 2, "'soon' is invalid"],
    [['client', 'create', 'x', '--rate-limit', '-1'], 2, "'-1' is invalid"],
    [['client', 'create'], 2, "missing required argument 'clientID'"],
    [['client', 'remove', 'x'], 2, "unknown command 'remove'"],
    [['client', 'list', '--all'], 2, "unknown option '--all'"],
  ]);
});

describe('import and export', () => {
  it('load a file, and standard input, and write it out again', async () => {
    const file = join(folder, 'brands.csv');
    await writeFile(file, 'id,title,extra\na,A,x\nb,B,y\n');
    expect(
      await run(['import', 'brands', file, '--map', 'brandID=id', '--map', 'name=title']),
    ).toEqual({
      status: 0,
      stdout: '2 inserted, 0 updated, 0 unchanged, 0 deleted\n',
      stderr: 'Left out: extra\n',
    });
    const exported = await run(['export', 'brands', '--format', 'ndjson']);
    expect(exported.status).toBe(0);
    expect(exported.stdout.split('\n')).toHaveLength(3);
    expect(
      await run(['import', 'brands', '-', '--format', 'ndjson', '--replace'], exported.stdout),
    ).toMatchObject({ status: 0, stdout: '0 inserted, 0 updated, 2 unchanged, 0 deleted\n' });
    const csv = await run(['export', 'brands']);
    expect(csv.stdout).toMatch(/^brandID,name,createdAt,updatedAt\na,A,/);
    expect(await run(['import', 'brands', '-'], csv.stdout)).toMatchObject({
      status: 0,
      stdout: '0 inserted, 0 updated, 2 unchanged, 0 deleted\n',
    });
  });

  it('take a dry run back', async () => {
    const dry = await run(['import', 'categories', '-', '--dry-run'], 'categoryID,name\na,A\n');
    expect(dry).toEqual({
      status: 0,
      stdout: '1 inserted, 0 updated, 0 unchanged, 0 deleted\n',
      stderr: 'A dry run: nothing was changed\n',
    });
    expect((await run(['export', 'categories'])).stdout.split('\n')).toHaveLength(2);
  });

  it('ask before much is deleted, also in a dry run', async () => {
    await run(['import', 'categories', '-'], 'categoryID,name\na,A\nb,B\n');
    const args = ['import', 'categories', '-', '--replace'];
    for (const options of [[], ['--dry-run']]) {
      expect(await run([...args, ...options], 'categoryID,name\na,A\n')).toEqual({
        status: 1,
        stdout: '',
        stderr:
          'catalogue: Nothing was loaded: the file lacks 1 of 2 objects, which is more than a fifth; --allow-deletes deletes them\n',
      });
    }
    const allowed = [...args, '--allow-deletes', '--allow-invisible', '--delimiter', ';'];
    expect(await run(allowed, 'categoryID;name\na;A\nc ;C\n')).toMatchObject({
      stdout: '1 inserted, 0 updated, 1 unchanged, 1 deleted\n',
    });
    await service.dataSource.query('DELETE FROM categories');
  });

  it('leave the tally folded and cut', async () => {
    const rows = Array.from({ length: 6000 }, (_, at) => `tally-${String(at).padStart(4, '0')},T`);
    const { status } = await run(['import', 'brands', '-'], ['brandID,name', ...rows].join('\n'));
    expect(status).toBe(0);
    const [tally] = await service.dataSource.query<unknown[]>(
      `SELECT (SELECT count(*) > 1 FROM brands_tally) AS cut,
              (SELECT count(*) FROM brands_tally_deltas) AS deltas`,
    );
    expect(tally).toEqual({ cut: true, deltas: '0' });
    await service.dataSource.query('DELETE FROM brands');
  });

  it('end quietly when the reader has seen enough', async () => {
    await service.dataSource.query(
      `INSERT INTO categories ("categoryID", name) SELECT n, 'N' FROM generate_series(1, 5000) n`,
    );
    const { stdout, stderr } = spawnSync(
      'sh',
      ['-c', 'node dist/main.js export categories | head -1'],
      {
        env: { ...BARE_ENVIRONMENT, DATABASE_URL: service.database.url },
        encoding: 'utf8',
      },
    );
    expect({ stdout, stderr }).toEqual({
      stdout: 'categoryID,parentID,name,createdAt,updatedAt\n',
      stderr: '',
    });
    await service.dataSource.query('TRUNCATE categories CASCADE');
  });

  it('name the bad rows, one a line, and end with 1', async () => {
    expect(await run(['import', 'products', '-'], 'productID,type\na,FOO\n,SERVICE\n')).toEqual({
      status: 1,
      stdout: '',
      stderr:
        'line 2, column type: must be one of PHYSICAL, DIGITAL, SERVICE, not "FOO"\n' +
        'line 3, column productID: must be given\n' +
        'catalogue: Nothing was loaded: 2 problems\n',
    });
  });

  describeEnds([
    [['import', 'nonsense', '-'], 1, 'There is no resource nonsense; there are '],
    [['export', 'nonsense'], 1, 'There is no resource nonsense'],
    [['import', 'brands', 'none.csv'], 1, 'none.csv cannot be read: ENOENT'],
    [['import', 'brands'], 2, "missing required argument 'file'"],
    [['import', 'brands', '-', '--map', 'name'], 2, 'It must be of the form field='],
    [['import', 'brands', '-', '--set', 'name=a', '--set', 'name=b'], 2, 'name is given twice'],
    [['import', 'brands', '-', '--format', 'xml'], 2, "'xml' is invalid"],
  ]);

  it('say once for which lock they wait, and who holds it', async () => {
    const blocker = service.dataSource.createQueryRunner();
    await blocker.startTransaction();
    await blocker.query('LOCK TABLE categories IN SHARE MODE');
    const [{ pid }] = (await blocker.query('SELECT pg_backend_pid() AS pid')) as [{ pid: number }];
    const child = spawn(process.execPath, ['dist/main.js', 'import', 'categories', '-'], {
      env: { ...BARE_ENVIRONMENT, DATABASE_URL: service.database.url },
    });
    child.stdin.end('categoryID,name\nawaited,A\n');
    let printed = '';
    child.stderr.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until(() => printed !== '', 60_000);
    await blocker.rollbackTransaction();
    await blocker.release();
    const [status] = await once(child, 'close');
    expect([status, printed]).toEqual([
      0,
      expect.stringMatching(
        new RegExp(
          `^The import waits for RowExclusiveLock on categories, held by pid ${pid} \\(catalogue, idle in transaction, .*\\): .*\\n$`,
        ),
      ),
    ]);
    await service.dataSource.query('DELETE FROM categories');
  });

  it('leave everything as it was when killed', async () => {
    const before = await run(['export', 'brands']);
    const child = spawn(process.execPath, ['dist/main.js', 'import', 'brands', '-', '--replace'], {
      env: { ...BARE_ENVIRONMENT, DATABASE_URL: service.database.url },
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.stdin.on('error', () => undefined);
    child.stdin.write(`brandID,name\n${'new,N\n'.repeat(50_000)}`);
    // Wait until COPY into the staging table is in progress.
    await until(async () => {
      const [{ copying }] = await service.dataSource.query<[{ copying: string }]>(
        `SELECT count(*) AS copying FROM pg_stat_progress_copy WHERE datname = current_database()`,
      );
      return copying === '1';
    });
    child.kill('SIGKILL');
    await new Promise((resolve) => child.on('exit', resolve));
    expect(await run(['export', 'brands'])).toEqual(before);
  });
});

describe('migration', () => {
  it('names the privilege that its user lacks, and the remedy', async () => {
    const role = `reader_${randomBytes(4).toString('hex')}`;
    await service.dataSource.query(`CREATE ROLE ${role} LOGIN PASSWORD '${role}'`);
    const url = new URL(service.database.url);
    [url.username, url.password] = [role, role];
    const environment = { DATABASE_URL: url.href };
    const result = await host.run(['migration', 'add-phone'], { environment });
    await service.dataSource.query(`DROP ROLE ${role}`);
    expect(result).toEqual({
      status: 1,
      stdout: '',
      stderr: `catalogue: The user ${role} may not create the empty database on which the schemas are compared: run ALTER ROLE "${role}" CREATEDB as a superuser, or name a server in DATABASE_URL where it may; without DATABASE_URL it is the embedded one\n`,
    });
  });
});

describe('verify and migrate', () => {
  it('find nothing to do', async () => {
    expect(await run(['verify'])).toEqual({ status: 0, stdout: 'Nothing is off\n', stderr: '' });
    expect(await run(['migrate'])).toEqual({
      status: 0,
      stdout: 'The schema is up to date: 0 migrations taken\n',
      stderr: '',
    });
  });

  it('say what is off, and end with 1', async () => {
    await service.dataSource.query('ALTER TABLE brands DISABLE TRIGGER brands_updated_at');
    const result = await run(['verify']);
    await service.dataSource.query('ALTER TABLE brands ENABLE TRIGGER brands_updated_at');
    expect(result).toEqual({
      status: 1,
      stdout: 'brands has no working trigger that keeps updatedAt; run catalogue migrate\n',
      stderr: 'catalogue: 1 thing is off\n',
    });
  });

  it('refuse a database that cannot be reached, in one line', async () => {
    const result = await host.run(['client', 'list'], {
      environment: { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toMatch(/^catalogue: .*ECONNREFUSED.*\n$/);
  });

  it('refuse what is no command with a status of its own', async () => {
    expect(await run(['nonsense'])).toEqual({
      status: 2,
      stdout: '',
      stderr: "error: unknown command 'nonsense'\n",
    });
  });
});

it('A database that was never migrated is refused in one line', async () => {
  const database = await createDatabase({ migrated: false });
  for (const args of [
    ['drop', 'suppliers'],
    ['export', 'brands'],
    ['client', 'list'],
  ]) {
    expect(await host.run(args, { environment: { DATABASE_URL: database.url } })).toEqual({
      status: 1,
      stdout: '',
      stderr: 'catalogue: The schema is not up to date: run catalogue migrate first\n',
    });
  }
  await database.drop();
});
