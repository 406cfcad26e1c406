import { execFile, spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { connected, type Servers, until } from '../background.js';
import { holdPostgres, killPostgres, PROJECT, signalPostgres, watch } from '../processes.js';
import { Gate } from './gate.js';

const run = promisify(execFile);

/** A member of the cluster, as Patroni describes it. */
export interface Member {
  readonly name: string;
  readonly role: 'leader' | 'replica' | 'sync_standby';
  readonly state: string;
  readonly timeline?: number;
  readonly lag?: number | 'unknown';
}

/** What newer and older versions of Patroni call a replica that receives. */
const RUNNING = ['streaming', 'running'];

const NUMBERS = [1, 2, 3] as const;

/** The port of HAProxy that leads to the primary. */
const PRIMARY_PORT = 5000;

/**
 * The cluster of `deploy/cluster/start.sh`, of which each member reaches etcd through a gate of its own, and the service
 * the primary.
 */
export class Cluster {
  private constructor(
    private readonly folder: string,
    private readonly gates: readonly Gate[],
    private readonly proxy: Gate,
    private readonly stopScript: () => Promise<void>,
  ) {}

  /** Starts it, and resolves when the service answers. */
  static async start(folder: string, isSynchronous: boolean): Promise<Cluster> {
    const gates = await Promise.all(NUMBERS.map(() => Gate.before(2379)));
    const proxy = await Gate.before(PRIMARY_PORT);
    const args = [folder, ...(isSynchronous ? [] : ['async'])];
    const child = watch(
      spawn(join(PROJECT, 'deploy', 'cluster', 'start.sh'), args, {
        env: {
          ...process.env,
          ETCD: gates.map(({ port }) => `127.0.0.1:${port}`).join(' '),
          // Else Patroni asks etcd for its addresses, and goes around the gate.
          PATRONI_ETCD3_USE_PROXIES: 'true',
          PRIMARY: `127.0.0.1:${proxy.port}`,
          RATE_LIMIT_PER_MINUTE: '0',
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      }),
    );
    await new Promise<void>((resolve, reject) => {
      child.stdout.on('data', (chunk: Buffer) => {
        if (chunk.toString().includes('answers on')) resolve();
      });
      child.once('exit', () => {
        reject(new Error('The cluster did not start'));
      });
    });
    return new Cluster(folder, gates, proxy, async () => {
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
    });
  }

  /** Where the service answers. */
  readonly address = `http://127.0.0.1:${process.env.PORT ?? '3000'}`;

  /** Where each instance of it answers. */
  readonly instances = [11, 12].map((host) => this.address.replace(/1(?=:\d+$)/, String(host)));

  /** The way of the service to the primary, on which a connection stays with the server that it was opened to. */
  readonly forwarded: Servers = {
    url: (role, database) => this.url(role, database, this.proxy.port),
    // Longer than a pause: the answer of a server that wakes up is waited for.
    connect: async (role, database) =>
      connected(await this.url(role, database, this.proxy.port), 120_000),
  };

  /** The URL of the primary, through HAProxy, for the role `postgres` or `catalogue`. */
  async url(role = 'catalogue', database = 'catalogue', port = PRIMARY_PORT): Promise<string> {
    const file = role === 'postgres' ? 'superuser.password' : 'catalogue.password';
    const password = await readFile(join(this.folder, file), 'utf8');
    return `postgres://${role}:${password.trim()}@127.0.0.1:${port}/${database}`;
  }

  /** Connects to a member itself, as `postgres`. */
  async connectTo(number: number): Promise<pg.Client> {
    return connected(await this.url('postgres', 'postgres', portOf(number)));
  }

  /**
   * Lets the service reach a member itself, or, without a number, the primary through HAProxy. Closes the connections
   * that it has, or leads new ones only.
   */
  forward(number?: number, isNewOnly = false): void {
    const port = number === undefined ? PRIMARY_PORT : portOf(number);
    if (isNewOnly) this.proxy.leadNew(port);
    else this.proxy.lead(port);
  }

  async connect(role?: string, database?: string): Promise<pg.Client> {
    return connected(await this.url(role, database));
  }

  async members(): Promise<Member[]> {
    for (const number of NUMBERS) {
      try {
        const { members } = (await this.ask(number, '/cluster')) as { members: Member[] };
        return members;
      } catch {
        // That of a member that is down.
      }
    }
    return [];
  }

  /** The number of the primary. */
  async primary(): Promise<number> {
    const leader = (await this.members()).find(({ role }) => role === 'leader');
    if (!leader) throw new Error('There is no primary');
    return numberOf(leader);
  }

  /** Resolves when all members run on one timeline, and the replicas have what the primary has. */
  async untilWhole(): Promise<void> {
    await until(async () => {
      const members = await this.members();
      const [timeline] = members.map((member) => member.timeline);
      return (
        members.length === NUMBERS.length &&
        members.some(({ role }) => role === 'leader') &&
        members.every(
          (member) =>
            member.timeline === timeline &&
            (member.role === 'leader' || (RUNNING.includes(member.state) && member.lag === 0)),
        )
      );
    }, 'all members are running');
  }

  /** Asks the interface of Patroni of a member. */
  async ask(number: number, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:800${number}${path}`, {
      ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
      // One that is paused accepts the connection, and does not answer.
      signal: AbortSignal.timeout(body ? 60_000 : 2000),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return body ? text : JSON.parse(text);
  }

  /** Ends all processes of a member at once. */
  async kill(number: number): Promise<void> {
    const postmaster = await this.postmaster(number);
    await this.killPart(`member${number}`);
    await killPostgres(postmaster);
  }

  /** Ends the PostgreSQL of a member whose Patroni was ended, and starts the member again. */
  async replace(number: number): Promise<void> {
    await killPostgres(await this.postmaster(number));
    await this.startPart(`member${number}`);
  }

  /** Stops all processes of a member, or lets them go on. */
  async pause(number: number, isPaused: boolean): Promise<void> {
    const signal = isPaused ? 'SIGSTOP' : 'SIGCONT';
    process.kill(-(await this.groupOf(`member${number}`)), signal);
    await signalPostgres(await this.postmaster(number), signal);
  }

  /** Lets a primary send nothing more to its replicas. */
  async hold(number: number): Promise<void> {
    await holdPostgres(await this.postmaster(number));
  }

  /** Starts a part that was ended. */
  async startPart(name: string): Promise<void> {
    await run(join(this.folder, name));
  }

  async killPart(name: string): Promise<void> {
    process.kill(-(await this.groupOf(name)), 'SIGKILL');
  }

  /** Cuts a member off from etcd, or connects it again. */
  async cut(number: number, isCut: boolean): Promise<void> {
    const gate = this.gates[number - 1];
    await (isCut ? gate?.shut() : gate?.open());
  }

  async stop(): Promise<void> {
    await this.stopScript();
    for (const gate of [...this.gates, this.proxy]) await gate.shut();
  }

  private async groupOf(part: string): Promise<number> {
    return Number(await readFile(join(this.folder, `${part}.pid`), 'utf8'));
  }

  private async postmaster(number: number): Promise<number> {
    const path = join(this.folder, `member${number}.data`, 'data', 'postmaster.pid');
    return parseInt(await readFile(path, 'utf8'), 10);
  }
}

export function numberOf({ name }: Member): number {
  return Number(name.replace('member', ''));
}

function portOf(number: number): number {
  return 5430 + number;
}
