import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client } from 'pg';
import {
  type Cluster,
  openCluster,
  passwordOf,
} from '../../packages/embedded-postgres/src/cluster.js';
import { freePort } from '../free-port.js';

const run = promisify(execFile);

/** A PostgreSQL server for one test, from the embedded binaries. Can be killed and restarted. */
export class OwnServer {
  private process: ChildProcess | undefined;

  private constructor(
    private readonly folder: string,
    private readonly cluster: Cluster,
    readonly url: string,
  ) {}

  /** Creates a cluster and starts its server. */
  static async create(settings: Record<string, string> = {}): Promise<OwnServer> {
    const folder = await newFolder();
    const cluster = await openCluster(folder, 'postgres', () => undefined);
    const port = await freePort();
    await configure(cluster, { ...SETTINGS, ...settings, port });
    const password = await passwordOf(cluster);
    const url = `postgres://postgres:${password}@127.0.0.1:${port}/postgres`;
    const server = new OwnServer(folder, cluster, url);
    await server.start();
    return server;
  }

  /**
   * Creates and starts a streaming replica of the server.
   *
   * @param by where it reaches the server
   */
  async replica(by = this.url): Promise<OwnServer> {
    await this.stop();
    const folder = await newFolder();
    const cluster = { ...this.cluster, directory: join(folder, 'postgres') };
    await cp(this.cluster.directory, cluster.directory, {
      recursive: true,
      preserveTimestamps: true,
    });
    if (cluster.account) {
      await run('chown', [
        '-R',
        `${cluster.account.uid}:${cluster.account.gid}`,
        cluster.directory,
      ]);
    }
    await this.start();
    const port = await freePort();
    const source = new URL(by);
    const conninfo = `host=127.0.0.1 port=${source.port} user=postgres password=${source.password}`;
    await configure(cluster, { port, primary_conninfo: conninfo });
    await writeFile(join(cluster.directory, 'standby.signal'), '');
    const url = new URL(this.url);
    url.port = String(port);
    const replica = new OwnServer(folder, cluster, url.href);
    await replica.start();
    return replica;
  }

  /** Starts the server. Resolves when it accepts connections. */
  async start(): Promise<void> {
    const { binaries, directory, account } = this.cluster;
    const end = Date.now() + 20_000;
    while (!(await this.answers())) {
      if (Date.now() > end) throw new Error(await this.log());
      if (!this.isRunning) {
        // Repeated, because a server that was just killed may still hold its shared memory.
        this.process = spawn(binaries.postgres, ['-D', directory], {
          ...account,
          cwd: '/',
          env: { LC_ALL: 'C', TZ: 'UTC' },
          stdio: 'ignore',
        });
      }
      await sleep(20);
    }
  }

  /** Stops the server. Default: fast shutdown (SIGINT). */
  async stop(signal: NodeJS.Signals = 'SIGINT'): Promise<void> {
    if (!this.process || !this.isRunning) return;
    const exit = once(this.process, 'exit');
    this.process.kill(signal);
    await exit;
  }

  /** Stops or continues all processes of the server, to simulate a machine that swaps. */
  async signalAll(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const parent = String(this.process?.pid);
    const { stdout } = await run('ps', ['-o', 'pid=', '--ppid', parent]);
    for (const pid of [parent, ...stdout.trim().split(/\s+/)]) process.kill(Number(pid), signal);
  }

  async query<Row extends object>(text: string, url = this.url): Promise<Row[]> {
    const client = new Client(url);
    client.on('error', () => undefined);
    await client.connect();
    try {
      return (await client.query<Row>(text)).rows;
    } finally {
      await client.end();
    }
  }

  /** Stops the server and removes its files. */
  async remove(): Promise<void> {
    await this.stop('SIGKILL');
    await rm(this.folder, { recursive: true, maxRetries: 5 });
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

  private log(): Promise<string> {
    return readFile(join(this.cluster.directory, 'log/postgresql.log'), 'utf8').catch(String);
  }
}

const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  logging_collector: 'on',
  log_directory: 'log',
  log_filename: 'postgresql.log',
  fsync: 'off',
  max_connections: '100',
};

/** Appends to `postgresql.conf`, where the last line of a setting counts. */
async function configure(
  { directory }: Cluster,
  settings: Record<string, string | number>,
): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'\n`);
  await appendFile(join(directory, 'postgresql.conf'), lines.join(''));
  // Replication from this machine only.
  await appendFile(
    join(directory, 'pg_hba.conf'),
    'host replication postgres 127.0.0.1/32 scram-sha-256\n',
  );
}

async function newFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-own-'));
  // If this process is root, the server runs as another user, who must reach the folder.
  await chmod(folder, 0o755);
  return folder;
}
