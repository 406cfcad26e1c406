import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { BARE_ENVIRONMENT, type CommandResult } from './catalogue.js';

/** How a command line is run. */
export interface CommandOptions {
  /** Everything in the environment besides PATH. */
  readonly environment?: NodeJS.ProcessEnv;
  readonly input?: string | Buffer;
  /** A module in the folder, whose function `run` takes the arguments and gives the status. Default: its catalogue */
  readonly program?: string;
}

/**
 * A process that runs command lines of a built service, or of other programs, one after the other, each with an
 * environment and a standard input of its own. It fails if one leaves something open that would keep a process from
 * ending. Loading a program takes most of the time of a command, and is done once. For signals, closed streams, and
 * commands at the same time, use `catalogue`.
 */
export class CommandHost {
  private child: ChildProcess | undefined;
  private printed = '';
  private last: Promise<unknown> = Promise.resolve();

  /** @param folder of a built service */
  constructor(private readonly folder = '.') {}

  run(args: readonly string[], options: CommandOptions = {}): Promise<CommandResult> {
    const result = this.last.then(() => this.send(args, options));
    this.last = result.catch(() => undefined);
    return result;
  }

  async end(): Promise<void> {
    await this.last;
    if (!this.child) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  private async send(
    args: readonly string[],
    { environment = {}, input = '', program }: CommandOptions,
  ): Promise<CommandResult> {
    const child = (this.child ??= this.start());
    try {
      return await new Promise<CommandResult>((answer, fail) => {
        child.once('message', answer);
        child.once('exit', () => {
          this.child = undefined;
          fail(new Error(`${args.join(' ')} ended the process: ${this.printed}`));
        });
        child.send({
          program,
          args,
          environment: { ...BARE_ENVIRONMENT, ...environment },
          input: Buffer.from(input).toString('base64'),
        });
      });
    } finally {
      child.removeAllListeners();
    }
  }

  private start(): ChildProcess {
    const child = fork(resolve('test/fixtures/command-host.mjs'), {
      cwd: this.folder,
      execArgv: [],
      env: { PATH: process.env.PATH },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    });
    child.stderr?.on('data', (chunk: Buffer) => (this.printed += chunk.toString()));
    return child;
  }
}
