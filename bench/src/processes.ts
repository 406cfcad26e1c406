import { type ChildProcess, execFile, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
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
    adminAddress: /Health and metrics are on (http:\/\/[\d.:]+)/.exec(output)?.[1],
    pid: child.pid ?? 0,
    isRunning: () => isRunning(child),
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

/** Does the work that a `Worker` is given, in its process. */
export function answerTasks(run: (task: never) => Promise<object>): void {
  process.on('message', (task) => {
    run(task as never).then(
      (result) => process.send?.(result),
      (error: unknown) => process.send?.({ error: String(error) }),
    );
  });
}

const running = new Set<ChildProcess>();

export function isRunning({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode === null && signalCode === null;
}

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
  if (!isRunning(child)) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  await gone;
}

/** A port on which nobody listens. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Ends all processes of a PostgreSQL at once. */
export async function killPostgres(pid: number): Promise<void> {
  // Else it would start some again.
  process.kill(pid, 'SIGSTOP');
  await promisify(execFile)('pkill', ['-9', '-P', String(pid)]);
  process.kill(pid, 'SIGKILL');
}

/** Sends a signal to all processes of a PostgreSQL. */
export async function signalPostgres(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
  process.kill(pid, signal);
  await promisify(execFile)('pkill', [`-${signal.slice(3)}`, '-P', String(pid)]);
}

/** Lets a primary send nothing more to its replicas. */
export async function holdPostgres(pid: number): Promise<void> {
  await promisify(execFile)('pkill', ['-STOP', '-P', String(pid), '-f', 'walsender']);
}

/** The memory of a process that is in use, in MiB. */
export async function residentMemory(pid: number): Promise<number> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(pid)]);
  return Math.round(Number(stdout) / 1024);
}
