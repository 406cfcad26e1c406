import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** The project's own folder, built. */
export const PROJECT = join(import.meta.dirname, '..', '..');

/** A server that listens, in a process of its own. */
export interface Server {
  readonly address: string;
  /** Where it has its health and metrics, if that is another address. */
  readonly adminAddress?: string;
  readonly pid: number;
  /** Whether it has not ended by itself. */
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** Starts a Node program and waits until it prints an address. */
export async function startServer(
  program: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
): Promise<Server> {
  const child = watch(
    spawn(process.execPath, [program, ...args], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    }),
  );
  let output = '';
  const adminAddress = (): string | undefined =>
    /Health and metrics are on (http:\/\/[\d.:]+)/.exec(output)?.[1];
  const address = await new Promise<string>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      // The service prints the address of its health and metrics first.
      const found = /(?:^|listens on )(http:\/\/[\d.:]+)/m.exec(output)?.[1];
      if (!found) return;
      resolve(found);
      // What comes after is its log, which is let go by as a collector of logs would take it.
      child.stdout.off('data', read).resume();
    };
    child.stdout.on('data', read);
    child.once('exit', () => {
      reject(new Error(`${program} ${args.join(' ')} ended: ${output}`));
    });
  });
  return {
    address,
    adminAddress: adminAddress(),
    pid: child.pid ?? 0,
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: () => stop(child),
  };
}

/** Runs the project's command line; gives its standard output and how long it took. */
export async function catalogue(
  args: readonly string[],
  databaseUrl: string,
): Promise<{ stdout: string; seconds: number }> {
  const started = performance.now();
  const child = watch(
    spawn(process.execPath, [join(PROJECT, 'dist', 'main.js'), ...args], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      stdio: ['ignore', 'pipe', 'pipe'],
    }),
  );
  let [stdout, stderr] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  const [status] = (await once(child, 'close')) as [number];
  if (status !== 0) throw new Error(`catalogue ${args.join(' ')}: ${stderr}`);
  return { stdout, seconds: (performance.now() - started) / 1000 };
}

/** Does a piece of work in a process of its own: gives it a message and waits for its answer. */
export class Worker<Task extends object, Result> {
  private readonly child: ChildProcess;

  constructor(program: string) {
    this.child = watch(fork(join(import.meta.dirname, program)));
  }

  async run(task: Task): Promise<Result> {
    const done = new AbortController();
    const { signal } = done;
    const answer = once(this.child, 'message', { signal });
    const end = once(this.child, 'exit', { signal }).then(() => {
      throw new Error('The load ended before its time');
    });
    this.child.send(task);
    const [result] = (await Promise.race([answer, end]).finally(() => {
      done.abort();
      for (const waiting of [answer, end]) waiting.catch(() => undefined);
    })) as [Result | { error: string }];
    if (typeof result === 'object' && result && 'error' in result) throw new Error(result.error);
    return result;
  }

  stop(): Promise<void> {
    return stop(this.child);
  }
}

const running = new Set<ChildProcess>();

export function watch<Child extends ChildProcess>(child: Child): Child {
  running.add(child);
  child.once('exit', () => running.delete(child));
  return child;
}

/** Ends whatever was started here and is still running. */
export async function stopAll(): Promise<void> {
  await Promise.all([...running].map(stop));
}

export async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** The memory of a process that is in use, in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Math.round(Number(stdout) / 1024);
}
