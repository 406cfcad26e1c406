import type { Type } from '@nestjs/common';
import { Command, CommanderError } from 'commander';
import { InvalidRowsError } from '../import/invalid-rows.js';
import { CommandError } from '../command-error.js';
import { checkPeers } from '../package.js';
import type { Project } from '../project.js';
import { loadEnvFile } from '../settings/env-file.js';
import { clientCommand, tokenCommand } from './client.commands.js';
import { exportCommand, importCommand } from './import.commands.js';
import {
  describeCommand,
  dropCommand,
  explainCommand,
  migrateCommand,
  migrationCommand,
  searchCommand,
  verifyCommand,
} from './schema.commands.js';
import { mcpCommand, startCommand } from './start.commands.js';

/** Exit statuses of all commands. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/** Codes of a socket that the server has closed. */
const LOST = /^(EPIPE|ECONNRESET)$/;

/**
 * Runs the command line of this process, `start` if it is empty, and sets the exit status: 0 success, 1 failure, 2 wrong
 * usage.
 *
 * @param module the module that imports those of the resources
 * @param folder the folder of the built project: `migrations` in it has the migrations, `../demo` the demonstration
 * @param configure called with the application that serves, before it is initialised, such as for `app.use`
 */
export function run(module: Type, folder: string, configure?: Project['configure']): void {
  // Not awaited here: if nothing is left that could end the command, `runCommand` says so and sets the status.
  void runCommand({ module, folder, configure }, process.argv.slice(2)).then(
    (status) => (process.exitCode = status),
  );
}

/**
 * Runs a command line, `start` if it is empty, with the variables of `.env`. Prints an error as one line on standard
 * error, after the problems of an imported file, if any.
 *
 * @returns the exit status: 0 success, 1 failure, 2 wrong usage
 */
export async function runCommand(project: Project, args: readonly string[]): Promise<number> {
  let closedOutput: unknown;
  process.stdout.once('error', (error) => {
    closedOutput = error;
  });
  // Nothing is left that could end the command: without this, the process would end without a word.
  const fail = (): void => {
    console.error(
      'catalogue: The command has stopped before its end, which is a fault of the program',
    );
    process.exitCode = FAILED;
  };
  process.once('beforeExit', fail);
  try {
    await program(project).parseAsync(args.length === 0 ? ['start'] : [...args], { from: 'user' });
    return DONE;
  } catch (thrown) {
    const error = await causeOf(thrown);
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    // The reader of the output has closed it, as `head` does.
    if (error === closedOutput) return FAILED;
    if (error instanceof InvalidRowsError) for (const line of error.lines()) console.error(line);
    console.error(`catalogue: ${messageOf(error)}`);
    if (!(error instanceof CommandError) && process.env.LOG_LEVEL === 'debug') console.error(error);
    return FAILED;
  } finally {
    process.off('beforeExit', fail);
  }
}

/** The error, or what ended the connection to the database before it. */
async function causeOf(error: unknown): Promise<unknown> {
  if (!(error instanceof Error) || !error.name.endsWith('AlreadyReleasedError')) return error;
  const { lastLoss } = await import('../database/database-client.js');
  return lastLoss ?? error;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError has no message: every address of a host refused the connection.
  const { message, code, syscall = '' } = error as NodeJS.ErrnoException;
  if (LOST.test(code ?? '') && syscall !== 'connect') {
    return `The connection to the database was lost: ${message}`;
  }
  return (message === '' ? (code ?? error.name) : message).split('\n', 1)[0] ?? '';
}

/** The program with all its commands. What only some commands need is imported when they run. */
export function program(project: Project): Command {
  const catalogue = new Command('catalogue')
    .description('A catalogue listing service over HTTP')
    .exitOverride()
    // Help needs neither.
    .hook('preAction', () => {
      checkPeers(project);
      loadEnvFile();
    });
  startCommand(catalogue, project);
  migrateCommand(catalogue, project);
  migrationCommand(catalogue, project);
  dropCommand(catalogue, project);
  describeCommand(catalogue, project);
  clientCommand(catalogue, project);
  tokenCommand(catalogue, project);
  importCommand(catalogue, project);
  exportCommand(catalogue, project);
  searchCommand(catalogue, project);
  verifyCommand(catalogue, project);
  explainCommand(catalogue, project);
  mcpCommand(catalogue, project);
  return catalogue;
}
