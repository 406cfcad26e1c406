import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Instance } from '../faults/instance.js';
import { freePort } from '../free-port.js';
import { programOf, type Tool } from '../tools.js';
import { until } from '../until.js';
import { NameServer } from './name-server.js';

/** Whether this machine has the loopback address of IPv6. */
export const HAS_IPV6 = Object.values(networkInterfaces())
  .flat()
  .some((each) => each?.address === '::1');

/** The two ports of an instance. */
export type Ports = Instance['ports'];

const program = programOf('HAPROXY', 'haproxy');

export const HAPROXY: Tool = {
  name: 'haproxy',
  // Each instance has a loopback address of its own, which other systems do not have.
  isThere: program !== undefined && process.platform === 'linux',
  install: 'apt-get install haproxy, or its path as HAPROXY, on Linux',
};

/** Whether HAProxy responds to unparsable requests with the error files: 3.2.4 or later. */
export function usesErrorFiles(): boolean {
  if (program === undefined) return false;
  const version = /version (\d+)\.(\d+)[.-]\D*(\d+)/.exec(execFileSync(program, ['-v']).toString());
  const [major = 0, minor = 0, patch = 0] = (version ?? []).slice(1).map(Number);
  return major > 3 || (major === 3 && (minor > 2 || (minor === 2 && patch >= 4)));
}

/** HAProxy as in the compose file, on the loopback address. It resolves its instances by a name server. */
export class Proxy {
  private output = '';

  private constructor(
    readonly port: number,
    readonly operatorPort: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
    private readonly names: NameServer,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
  }

  /**
   * Starts HAProxy with `deploy/haproxy.cfg`. Only addresses, the given timeouts and texts are replaced.
   *
   * @param ports of every instance
   * @param timeouts by name, such as `server: '1s'`
   * @param texts by what they replace
   */
  static async before(
    ports: Ports,
    hosts: readonly string[],
    timeouts: Readonly<Record<string, string>> = {},
    texts: Readonly<Record<string, string>> = {},
  ): Promise<Proxy> {
    if (program === undefined) throw new Error('There is no HAProxy on the PATH');
    const names = await NameServer.start();
    names.addresses = hosts;
    const [port, operatorPort] = [await freePort(), await freePort()];
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-proxy-'));
    await cp('deploy/errors', join(folder, 'errors'), { recursive: true });
    let configuration = await readFile('deploy/haproxy.cfg', 'utf8');
    const lines = {
      'bind :8080': `bind 127.0.0.1:${port}`,
      'bind :8405': `bind 127.0.0.1:${operatorPort}`,
      'bind :::8080 v6only': `bind ::1:${port}`,
      'bind :::8405 v6only': `bind ::1:${operatorPort}`,
      'parse-resolv-conf': `nameserver test 127.0.0.1:${names.port}`,
    };
    for (const [line, by] of Object.entries(lines)) {
      configuration = replace(configuration, new RegExp(`^ {2}${line}$`, 'm'), `  ${by}`);
    }
    for (const [name, duration] of Object.entries(timeouts)) {
      const line = new RegExp(`^ {2}timeout ${name} .*$`, 'm');
      configuration = replace(configuration, line, `  timeout ${name} ${duration}`);
    }
    for (const [text, by] of Object.entries(texts)) {
      configuration = replace(configuration, text, by);
    }
    await writeFile(join(folder, 'haproxy.cfg'), configuration);
    const child = spawn(program, ['-db', '-f', join(folder, 'haproxy.cfg')], {
      env: { PATH: process.env.PATH, ...(HAS_IPV6 ? {} : { NO_IPV6: '1' }), ...ports },
    });
    const proxy = new Proxy(port, operatorPort, child, folder, names);
    await until(() => {
      if (!proxy.isRunning) throw new Error(proxy.output);
      return isOpen(port);
    });
    return proxy;
  }

  /** Changes the addresses of the instances. HAProxy looks them up once a second. */
  set hosts(hosts: readonly string[]) {
    this.names.addresses = hosts;
  }

  /** Waits until a number of instances is ready, as HAProxy knows it. */
  async untilReady(count: number): Promise<void> {
    await until(async () => (await this.metric('haproxy_backend_active_servers')) === count);
  }

  /** A metric of a backend, by default that of the instances. */
  async metric(name: string, backend = 'instances'): Promise<number> {
    const metrics = await this.metrics('?scope=backend');
    const value = new RegExp(`^${name}\\{proxy="${backend}"\\} (\\S+)$`, 'm').exec(metrics);
    return Number(value?.[1]);
  }

  /** The number of entries of a stick table. */
  async entries(table: string): Promise<number> {
    const metrics = await this.metrics('?scope=sticktable');
    const value = new RegExp(`^haproxy_sticktable_used\\{name="${table}".*\\} (\\d+)$`, 'm').exec(
      metrics,
    );
    return Number(value?.[1]);
  }

  /** Its metrics for Prometheus. */
  async metrics(query = ''): Promise<string> {
    return (await fetch(`http://127.0.0.1:${this.operatorPort}/metrics${query}`)).text();
  }

  /** The status of the check whether any instance is ready. */
  async readiness(): Promise<number> {
    return (await fetch(`http://127.0.0.1:${this.operatorPort}/ready`)).status;
  }

  /** Stops HAProxy. Throws if it has ended already. */
  async close(): Promise<void> {
    await this.names.stop();
    await rm(this.folder, { recursive: true });
    if (!this.isRunning) throw new Error(`HAProxy ended by itself: ${this.output}`);
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
  }

  private get isRunning(): boolean {
    return this.child.exitCode === null && this.child.signalCode === null;
  }
}

function replace(text: string, pattern: RegExp | string, by: string): string {
  if (typeof pattern === 'string' ? !text.includes(pattern) : !pattern.test(text))
    throw new Error(`There is no ${String(pattern)} in haproxy.cfg`);
  return text.replace(pattern, by);
}

async function isOpen(port: number): Promise<boolean> {
  const socket = connect(port, '127.0.0.1');
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
