import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The state of an owner that its watchdog process needs when the owner has ended. */
export interface OwnerState {
  /** Whether the owner may have been starting a server, which will then appear shortly. */
  readonly starting: boolean;
  /** Process id of the backend that holds, or is about to hold, the owner's lease; 0: none. */
  readonly backend: number;
}

/** Delay before a watchdog process that ended is restarted. Avoids a busy loop if it cannot run. */
const RESPAWN_DELAY_MS = 1_000;

/** Runs a watchdog process for this process, its owner, and reports the owner's state to it. */
export class Watchdog {
  readonly #directory: string;
  #state: OwnerState = { starting: false, backend: 0 };
  #child: ChildProcess;
  #isReleased = false;

  constructor(directory: string) {
    this.#directory = directory;
    this.#child = this.#spawn();
  }

  /** Reports a state. Call it before entering the state: this process may be killed at any time. */
  report(state: OwnerState): void {
    this.#state = state;
    this.#child.stdin?.write(`${JSON.stringify(state)}\n`);
  }

  /**
   * Hands the server over to the watchdog process. Resolves when that has stopped the server, or has
   * left it to other owners, or when the time is over.
   */
  async release(timeoutMs: number): Promise<void> {
    this.#isReleased = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.stdin?.end();
    const timeout = AbortSignal.timeout(timeoutMs);
    await once(child, 'exit', { signal: timeout }).catch(() => undefined);
    child.unref();
  }

  #spawn(): ChildProcess {
    const program = fileURLToPath(new URL('./watchdog-process.js', import.meta.url));
    const child = spawn(process.execPath, [program, this.#directory], {
      detached: true,
      env: childEnvironment(),
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    child.on('exit', () => {
      if (!this.#isReleased) setTimeout(this.#respawn, RESPAWN_DELAY_MS).unref();
    });
    child.unref();
    (child.stdin as Writable & Pick<Socket, 'unref'>).unref();
    return child;
  }

  readonly #respawn = (): void => {
    if (this.#isReleased) return;
    this.#child = this.#spawn();
    this.report(this.#state);
  };
}

/** The environment without options for this process: of Node (`--inspect`) and `pg` (PGOPTIONS). */
function childEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env);
  return Object.fromEntries(entries.filter(([name]) => !/^(PG|NODE_OPTIONS$)/.test(name)));
}

/** Parses a line of {@link Watchdog.report}. An owner that reported nothing has done nothing yet. */
export function parseState(line: string): OwnerState {
  return line === '' ? { starting: false, backend: 0 } : (JSON.parse(line) as OwnerState);
}
