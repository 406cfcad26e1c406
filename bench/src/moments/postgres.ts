import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connected, until } from '../background.js';
import { freePort, isRunning, killPostgres, watch } from '../processes.js';

const run = promisify(execFile);

/** PostgreSQL does not run as root. */
interface Account {
  readonly uid?: number;
  readonly gid?: number;
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  // What a killed server leaves is in its folder.
  dynamic_shared_memory_type: 'mmap',
  // A process that is killed loses nothing by it.
  fsync: 'off',
  shared_buffers: '128MB',
  max_connections: '100',
};

/** Of `apt-get install libfaketime`. */
const LIBFAKETIME = `/usr/lib/${process.arch === 'arm64' ? 'aarch64' : 'x86_64'}-linux-gnu/faketime/libfaketime.so.1`;

/** Where servers of one run have their data and their clock. */
export class PostgresFolder {
  /** Of all roles. */
  readonly password = randomBytes(16).toString('hex');

  private constructor(
    readonly path: string,
    readonly account: Account,
    readonly programs: string,
  ) {}

  static async create(path: string): Promise<PostgresFolder> {
    await stat(LIBFAKETIME).catch(() => {
      throw new Error(`There is no ${LIBFAKETIME}: apt-get install libfaketime`);
    });
    const id = async (option: string): Promise<number> =>
      Number((await run('id', [option, 'postgres'])).stdout);
    const account = process.getuid?.() === 0 ? { uid: await id('-u'), gid: await id('-g') } : {};
    const { stdout } = await run('pg_config', ['--bindir']);
    // The account must reach it.
    await chmod(path, 0o755);
    const folder = new PostgresFolder(path, account, stdout.trim());
    await folder.setClock(0);
    await writeFile(join(path, 'password'), folder.password, { mode: 0o644 });
    return folder;
  }

  /** Sets the clock of the servers forward, or back, by so many seconds from the one of the machine. */
  async setClock(seconds: number): Promise<void> {
    await writeFile(join(this.path, 'clock'), `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  }

  /** Runs a program that creates the data of a server, in a folder that is its own. */
  async create(data: string, program: string, args: readonly string[]): Promise<void> {
    await mkdir(data, { mode: 0o700 });
    const { uid, gid } = this.account;
    if (uid !== undefined && gid !== undefined) await chown(data, uid, gid);
    const options = { ...this.account, cwd: '/' };
    await run(join(this.programs, program), ['-D', data, ...args], options);
  }
}

/** A PostgreSQL server, of the programs that `pg_config` names. Its clock can be set. */
export class Postgres {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: PostgresFolder,
    private readonly data: string,
    readonly port: number,
  ) {}

  static create(folder: PostgresFolder, name: string): Promise<Postgres> {
    const access = ['-U', 'postgres', '-A', 'scram-sha-256'];
    const password = `--pwfile=${join(folder.path, 'password')}`;
    const text = ['-E', 'UTF8', '--locale=C', '-N'];
    return Postgres.started(folder, name, 'initdb', [...access, password, ...text]);
  }

  private static async started(
    folder: PostgresFolder,
    name: string,
    program: string,
    args: readonly string[],
  ): Promise<Postgres> {
    const server = new Postgres(folder, join(folder.path, name), await freePort());
    await folder.create(server.data, program, args);
    await server.start();
    return server;
  }

  /** Creates and starts a streaming replica. */
  replica(name: string): Promise<Postgres> {
    const from = ['-d', this.url, '--checkpoint=fast', '-R'];
    return Postgres.started(this.folder, name, 'pg_basebackup', from);
  }

  /** Of the superuser and its database. */
  get url(): string {
    return `postgres://postgres:${this.folder.password}@127.0.0.1:${this.port}/postgres`;
  }

  async query(sql: string): Promise<void> {
    const client = await connected(this.url);
    await client.query(sql).finally(() => client.end());
  }

  /** Resolves when it accepts connections. */
  async start(): Promise<void> {
    const all = Object.entries({ ...SETTINGS, port: String(this.port) });
    const args = all.flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    await until(async () => {
      // Again and again: one that was killed may still hold its shared memory.
      if (!this.process || !isRunning(this.process)) this.process = this.spawn(args);
      await this.query('SELECT');
      return true;
    }, `PostgreSQL in ${this.data} is started`);
  }

  /** Ends all its processes at once. */
  async kill(): Promise<void> {
    const { process: child } = this;
    if (!child || !isRunning(child)) return;
    const exit = once(child, 'exit');
    await killPostgres(this.pid);
    await exit;
  }

  get pid(): number {
    return this.process?.pid ?? NaN;
  }

  /** Ends it, and removes its data and what it leaves of shared memory if it was killed. */
  async remove(): Promise<void> {
    await this.kill();
    const lines = (await readFile(join(this.data, 'postmaster.pid'), 'utf8')).split('\n');
    const [, segment = ''] = lines[6]?.trim().split(/\s+/) ?? [];
    await run('ipcrm', ['-m', segment]);
    await rm(this.data, { recursive: true, force: true, maxRetries: 5 });
  }

  private spawn(args: readonly string[]): ChildProcess {
    const { account, path, programs } = this.folder;
    return watch(
      spawn(join(programs, 'postgres'), ['-D', this.data, ...args], {
        ...account,
        cwd: '/',
        env: {
          LC_ALL: 'C',
          TZ: 'UTC',
          LD_PRELOAD: LIBFAKETIME,
          FAKETIME_TIMESTAMP_FILE: join(path, 'clock'),
          FAKETIME_CACHE_DURATION: '1',
          FAKETIME_DONT_FAKE_MONOTONIC: '1',
          FAKETIME_DISABLE_SHM: '1',
        },
        stdio: ['ignore', 'ignore', 'ignore'],
      }),
    );
  }
}
