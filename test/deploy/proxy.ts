import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../faults/own-server.js';
import { until } from '../until.js';

/** The two ports of an instance. */
export interface Ports {
  readonly PORT: string;
  readonly ADMIN_PORT: string;
}

/** Path of HAProxy: `HAPROXY`, or the first on the PATH. Undefined if there is none. */
export const program = [
  process.env.HAPROXY ?? '',
  ...[...(process.env.PATH ?? '').split(':'), '/usr/sbin', '/usr/local/sbin'].map((folder) =>
    join(folder, 'haproxy'),
  ),
].find((path) => path !== '' && existsSync(path));

/** Whether HAProxy responds to unparsable requests with the error files: 3.2.4 or later. */
export function usesErrorFiles(): boolean {
  if (program === undefined) return false;
  const version = /version (\d+)\.(\d+)[.-]\D*(\d+)/.exec(execFileSync(program, ['-v']).toString());
  const [major = 0, minor = 0, patch = 0] = (version ?? []).slice(1).map(Number);
  return major > 3 || (major === 3 && (minor > 2 || (minor === 2 && patch >= 4)));
}

/** HAProxy as in the compose file, on the loopback address. */
export class Proxy {
  private output = '';

  private constructor(
    readonly port: number,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
    }
  }

  /**
   * Starts HAProxy with `deploy/haproxy.cfg`. Only addresses and the given timeouts are replaced.
   *
   * @param timeouts by name, such as `server: '1s'`
   */
  static async before(
    instances: readonly Ports[],
    timeouts: Readonly<Record<string, string>> = {},
  ): Promise<Proxy> {
    if (program === undefined) throw new Error('There is no HAProxy on the PATH');
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-proxy-'));
    await cp('deploy/errors', join(folder, 'errors'), { recursive: true });
    let configuration = replace(
      await readFile('deploy/haproxy.cfg', 'utf8'),
      /^ {2}bind :8080$/m,
      `  bind 127.0.0.1:${port}`,
    );
    for (const [name, duration] of Object.entries(timeouts)) {
      const line = new RegExp(`^ {2}timeout ${name} .*$`, 'm');
      configuration = replace(configuration, line, `  timeout ${name} ${duration}`);
    }
    const servers = instances.map(
      ({ PORT, ADMIN_PORT }, at) => `  server at-${at} 127.0.0.1:${PORT} port ${ADMIN_PORT}\n`,
    );
    configuration = replace(configuration, /^( {2}server .*\n)+/m, servers.join(''));
    await writeFile(join(folder, 'haproxy.cfg'), configuration);
    const child = spawn(program, ['-db', '-f', join(folder, 'haproxy.cfg')], {
      env: { PATH: process.env.PATH, PORT: '1', ADMIN_PORT: '1' },
    });
    const proxy = new Proxy(port, child, folder);
    await until(() => {
      if (!proxy.isRunning) throw new Error(proxy.output);
      return isOpen(port);
    });
    return proxy;
  }

  /** Stops HAProxy. Throws if it has ended already. */
  async close(): Promise<void> {
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

function replace(text: string, pattern: RegExp, by: string): string {
  if (!pattern.test(text)) throw new Error(`There is no ${String(pattern)} in haproxy.cfg`);
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
