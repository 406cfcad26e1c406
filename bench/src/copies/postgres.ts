import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { watch } from '../processes.js';

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

/** Where servers of one scenario have their data and their clock. */
export class PostgresFolder {
  private constructor(
    readonly path: string,
    readonly account: Account,
    readonly programs: string,
  ) {}

  static async create(path: string): Promise<PostgresFolder> {
    await stat(LIBFAKETIME).catch(() => {
      throw new Error(`There is no ${LIBFAKETIME}: apt-get install libfaketime`);
    });
    const account = process.getuid?.() === 0 ? await postgresAccount() : {};
    const { stdout } = await run('pg_config', ['--bindir']);
    // The account must reach it.
    await chmod(path, 0o755);
    const folder = new PostgresFolder(path, account, stdout.trim());
    await folder.setClock(0);
    return folder;
  }

  /** Sets the clock of the servers forward, or back, by so many seconds from the one of the machine. */
  async setClock(seconds: number): Promise<void> {
    await writeFile(this.clock, `${seconds < 0 ? '' : '+'}${seconds}s\n`);
  }

  get clock(): string {
    return join(this.path, 'clock');
  }

  async run(program: string, args: readonly string[]): Promise<void> {
    await run(join(this.programs, program), [...args], { ...this.account, cwd: '/' });
  }
}

async function postgresAccount(): Promise<Account> {
  const id = async (option: string): Promise<number> =>
    Number((await run('id', [option, 'postgres'])).stdout);
  return { uid: await id('-u'), gid: await id('-g') };
}

/** A PostgreSQL server, of the programs that `pg_config` names. Its clock can be set. */
export class Postgres {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: PostgresFolder,
    private readonly data: string,
    readonly port: number,
    private readonly password: string,
  ) {}

  static async create(
    folder: PostgresFolder,
    name: string,
    password: string,
    settings: Readonly<Record<string, string>> = {},
  ): Promise<Postgres> {
    const server = new Postgres(folder, join(folder.path, name), await freePort(), password);
    await server.newFolder();
    const passwordFile = join(server.data, '..', `${name}.password`);
    await writeFile(passwordFile, password, { mode: 0o644 });
    const access = ['-U', 'postgres', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`];
    await folder.run('initdb', ['-D', server.data, ...access, '-E', 'UTF8', '--locale=C', '-N']);
    await rm(passwordFile);
    await server.start(settings);
    return server;
  }

  /** Creates and starts a streaming replica. */
  async replica(name: string): Promise<Postgres> {
    const { folder, password } = this;
    const server = new Postgres(folder, join(folder.path, name), await freePort(), password);
    await server.newFolder();
    const from = ['-d', this.url('postgres', 'postgres'), '--checkpoint=fast', '-R'];
    await folder.run('pg_basebackup', [...from, '-D', server.data]);
    await server.start();
    return server;
  }

  url(role: string, database: string): string {
    return `postgres://${role}:${this.password}@127.0.0.1:${this.port}/${database}`;
  }

  async query(sql: string): Promise<void> {
    const client = new pg.Client(this.url('postgres', 'postgres'));
    client.on('error', () => undefined);
    await client.connect();
    await client.query(sql).finally(() => client.end());
  }

  /** Resolves when it accepts connections. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = { ...SETTINGS, ...settings, port: String(this.port) };
    const args = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const end = performance.now() + 60_000;
    while (!(await this.answers())) {
      if (performance.now() > end) throw new Error(`PostgreSQL in ${this.data} does not start`);
      // Again and again: one that was killed may still hold its shared memory.
      if (!this.isRunning) {
        this.process = watch(
          spawn(join(this.folder.programs, 'postgres'), ['-D', this.data, ...args], {
            ...this.folder.account,
            cwd: '/',
            env: {
              LC_ALL: 'C',
              TZ: 'UTC',
              LD_PRELOAD: LIBFAKETIME,
              FAKETIME_TIMESTAMP_FILE: this.folder.clock,
              FAKETIME_CACHE_DURATION: '1',
              FAKETIME_DONT_FAKE_MONOTONIC: '1',
              FAKETIME_DISABLE_SHM: '1',
            },
            stdio: ['ignore', 'ignore', 'ignore'],
          }),
        );
      }
      await sleep(50);
    }
  }

  /** Ends all its processes at once. */
  async kill(): Promise<void> {
    const { process: child } = this;
    if (!child || !this.isRunning) return;
    const exit = once(child, 'exit');
    // Else it would start some again.
    child.kill('SIGSTOP');
    await run('pkill', ['-9', '-P', String(child.pid)]);
    child.kill('SIGKILL');
    await exit;
  }

  /** Lets a primary send nothing more to its replicas. */
  async hold(): Promise<void> {
    const postmaster = await readFile(join(this.data, 'postmaster.pid'), 'utf8');
    await run('pkill', ['-STOP', '-P', String(parseInt(postmaster, 10)), '-f', 'walsender']);
  }

  /** Ends it, and removes its data and what it leaves of shared memory if it was killed. */
  async remove(): Promise<void> {
    await this.kill();
    const lines = (await readFile(join(this.data, 'postmaster.pid'), 'utf8')).split('\n');
    const [, segment = ''] = lines[6]?.trim().split(/\s+/) ?? [];
    await run('ipcrm', ['-m', segment]);
    await rm(this.data, { recursive: true, force: true, maxRetries: 5 });
  }

  private async newFolder(): Promise<void> {
    await mkdir(this.data, { mode: 0o700 });
    const { uid, gid } = this.folder.account;
    if (uid !== undefined && gid !== undefined) await chown(this.data, uid, gid);
  }

  private get isRunning(): boolean {
    return this.process?.exitCode === null && this.process.signalCode === null;
  }

  private async answers(): Promise<boolean> {
    try {
      await this.query('SELECT');
      return true;
    } catch {
      return false;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
