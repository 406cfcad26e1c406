import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';
import { plainLines } from '../plain-lines.js';
import { until } from '../until.js';

/** A process of the built service on a `DATABASE_URL`. */
export class Instance {
  private written = '';

  private constructor(private readonly child: ChildProcess) {
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (chunk: Buffer) => (this.written += chunk.toString()));
    }
  }

  /**
   * Starts an instance and waits until it listens. Default: two free ports.
   *
   * @param folder of a built project. Default: this one
   */
  static async start(
    databaseUrl: string,
    environment: NodeJS.ProcessEnv = {},
    folder = '.',
  ): Promise<Instance> {
    const child = spawn(process.execPath, ['dist/main.js', 'start'], {
      cwd: folder,
      env: {
        ...BARE_ENVIRONMENT,
        DATABASE_URL: databaseUrl,
        HOST: '127.0.0.1',
        PORT: '0',
        ADMIN_PORT: '0',
        ...environment,
      },
    });
    const instance = new Instance(child);
    try {
      await until(() => {
        if (child.exitCode !== null) throw new Error('It ended');
        return instance.output.includes('Catalogue listens on');
      }, 60_000);
    } catch (error) {
      await instance.kill();
      throw new Error(instance.output, { cause: error });
    }
    return instance;
  }

  /** Its standard output and standard error so far. */
  get output(): string {
    return plainLines(this.written);
  }

  /** Base URL of the API, such as `http://127.0.0.1:3000`. */
  get address(): string {
    return this.printed('Catalogue listens on');
  }

  /** Base URL of health and metrics. */
  get adminAddress(): string {
    return this.printed('Health and metrics are on');
  }

  /** The host of the address, such as `127.0.0.1`. */
  get host(): string {
    return new URL(this.address).hostname;
  }

  /** The settings for a process that replaces this one on the same ports. */
  get ports(): { PORT: string; ADMIN_PORT: string } {
    return { PORT: new URL(this.address).port, ADMIN_PORT: new URL(this.adminAddress).port };
  }

  /** Ends it with SIGTERM. Returns the exit status and the duration. */
  async stop(): Promise<{ status: unknown; milliseconds: number }> {
    const began = performance.now();
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    const [status] = (await exit) as [unknown];
    return { status, milliseconds: performance.now() - began };
  }

  /** Ends it with SIGKILL if it is running. */
  async kill(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const exit = once(this.child, 'exit');
    this.child.kill('SIGKILL');
    await exit;
  }

  private printed(before: string): string {
    const address = new RegExp(`${before} (http\\S+)`, 'm').exec(this.output)?.[1];
    if (!address) throw new Error(`It did not write “${before}”: ${this.written}`);
    return address;
  }
}
