import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** What a guardian has to know of its owner, when that has ended. */
export interface OwnerState {
  /** Whether it may have been starting a server, which will then appear shortly. */
  readonly starting: boolean;
  /** The server's backend that holds, or is about to hold, the owner's lease; 0: none. */
  readonly backend: number;
}

/** How long a guardian that died is left alone, lest one that cannot live be started in a loop. */
const RESPAWN_AFTER_MS = 1_000;

/** Keeps a guardian beside this process, and tells it what it has to know. */
export class Guard {
  readonly #directory: string;
  #state: OwnerState = { starting: false, backend: 0 };
  #child: ChildProcess;
  #left = false;

  constructor(directory: string) {
    this.#directory = directory;
    this.#child = this.#spawn();
  }

  /** Told before the state is entered: this process may be killed at any moment. */
  tell(state: OwnerState): void {
    this.#state = state;
    this.#child.stdin?.write(`${JSON.stringify(state)}\n`);
  }

  /** Leaves the server to the guardian; resolves when it has stopped it, or left it to others. */
  async leave(patienceMs: number): Promise<void> {
    this.#left = true;
    const child = this.#child;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    child.stdin?.end();
    const patience = AbortSignal.timeout(patienceMs);
    await once(child, 'exit', { signal: patience }).catch(() => undefined);
    child.unref();
  }

  #spawn(): ChildProcess {
    const program = fileURLToPath(new URL('./guardian.js', import.meta.url));
    const child = spawn(process.execPath, [program, this.#directory], {
      detached: true,
      env: ownEnvironment(),
      cwd: '/',
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    child.on('error', () => undefined);
    child.stdin.on('error', () => undefined);
    child.on('exit', () => {
      if (!this.#left) setTimeout(this.#respawn, RESPAWN_AFTER_MS).unref();
    });
    child.unref();
    (child.stdin as Writable & Pick<Socket, 'unref'>).unref();
    return child;
  }

  readonly #respawn = (): void => {
    if (this.#left) return;
    this.#child = this.#spawn();
    this.tell(this.#state);
  };
}

/** Ours, without the options for Node (--inspect) and for `pg` (PGOPTIONS) that were meant for us. */
function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !/^(PG|NODE_OPTIONS$)/.test(name));
  return Object.fromEntries(kept);
}

/** Reads what {@link Guard.tell} wrote; an owner that never told anything has done nothing yet. */
export function parseState(line: string): OwnerState {
  return line === '' ? { starting: false, backend: 0 } : (JSON.parse(line) as OwnerState);
}
