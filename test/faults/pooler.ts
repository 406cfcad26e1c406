import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { freePort } from '../free-port.js';
import { programOf, type Tool } from '../tools.js';
import { until } from '../until.js';

const program = programOf('PGBOUNCER', 'pgbouncer');

export const PGBOUNCER: Tool = {
  name: 'pgbouncer',
  isThere: program !== undefined,
  install: 'apt-get install pgbouncer, or its path as PGBOUNCER',
};

/** Such as `1.18`; `none` if there is none. */
export const PGBOUNCER_VERSION =
  /PgBouncer (\d+\.\d+)/.exec(
    program === undefined ? '' : execFileSync(program, ['--version']).toString(),
  )?.[1] ?? 'none';

/** Its settings by name. Those that are not given have the defaults of PgBouncer. */
export type PoolerSettings = Readonly<Record<string, string | number>>;

/** PgBouncer before a database. */
export class Pooler {
  private child: ChildProcess | undefined;
  private output = '';

  private constructor(
    private readonly folder: string,
    private readonly server: URL,
    private readonly port: number,
  ) {}

  /** @param url of the database, with a user and a password */
  static async before(url: string, settings: PoolerSettings = {}): Promise<Pooler> {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-pooler-'));
    // PgBouncer does not run as root, and another user must reach the folder.
    await chmod(folder, 0o755);
    const pooler = new Pooler(folder, new URL(url), await freePort());
    await pooler.configure(settings);
    await pooler.start();
    return pooler;
  }

  /** The URL of the database by way of the pooler. */
  get url(): string {
    const url = new URL(this.server);
    [url.hostname, url.port] = ['127.0.0.1', String(this.port)];
    return url.href;
  }

  async start(): Promise<void> {
    const account = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const child = spawn(program ?? '', [join(this.folder, 'pgbouncer.ini')], account);
    this.child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
    await until(async () => {
      if (child.exitCode !== null) throw new Error(this.output);
      return this.order('SHOW VERSION').then(
        () => true,
        () => false,
      );
    });
  }

  async stop(): Promise<void> {
    if (this.child?.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    // At once: from 1.23, SIGTERM waits for the clients.
    this.child.kill('SIGQUIT');
    await exit;
  }

  /** Changes its settings as `RELOAD` does. */
  async reload(settings: PoolerSettings): Promise<void> {
    await this.configure(settings);
    await this.order('RELOAD');
  }

  /** Runs a command of its console, such as `PAUSE`. */
  async order(command: string): Promise<void> {
    const url = new URL(this.url);
    url.pathname = '/pgbouncer';
    const client = new Client(url.href);
    client.on('error', () => undefined);
    await client.connect();
    try {
      await client.query(command);
    } finally {
      await client.end();
    }
  }

  async remove(): Promise<void> {
    await this.stop();
    await rm(this.folder, { recursive: true });
  }

  private async configure(settings: PoolerSettings): Promise<void> {
    const { hostname, port, username, password } = this.server;
    const user = decodeURIComponent(username);
    const lines = {
      listen_addr: '127.0.0.1',
      listen_port: this.port,
      unix_socket_dir: '',
      auth_type: 'trust',
      auth_file: join(this.folder, 'users.txt'),
      admin_users: user,
      ...settings,
    };
    await writeFile(
      join(this.folder, 'users.txt'),
      `"${user}" "${decodeURIComponent(password)}"\n`,
    );
    await writeFile(
      join(this.folder, 'pgbouncer.ini'),
      [
        '[databases]',
        `* = host=${hostname} port=${port}`,
        '[pgbouncer]',
        ...Object.entries(lines).map(([name, value]) => `${name} = ${value}`),
        '',
      ].join('\n'),
    );
  }
}
