import { Command, CommanderError } from 'commander';
import { InvalidRowsError } from '../import/invalid-rows.js';
import { CommandError } from '../command-error.js';
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
import { startCommand } from './start.command.js';

/** Exit statuses of all commands. */
const DONE = 0;
const FAILED = 1;
const WRONG_USAGE = 2;

/**
 * Runs a command line, `start` if it is empty, with the variables of `.env`. Prints an error as one line on standard
 * error, after the problems of an imported file, if any.
 *
 * @returns the exit status: 0 success, 1 failure, 2 wrong usage
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await program().parseAsync(args.length === 0 ? ['start'] : [...args], { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    // The reader of the output has closed it, as `head` does.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return FAILED;
    if (error instanceof InvalidRowsError) for (const line of error.lines()) console.error(line);
    console.error(`catalogue: ${messageOf(error)}`);
    if (!(error instanceof CommandError) && process.env.LOG_LEVEL === 'debug') console.error(error);
    return FAILED;
  }
}

/**
 * The program with all its commands. What a command needs is imported when it runs: help needs nothing, and `migrate` no
 * web framework.
 */
export function program(): Command {
  const catalogue = new Command('catalogue')
    .description('A catalogue listing service over HTTP')
    .exitOverride()
    // Help needs no settings.
    .hook('preAction', loadEnvFile);
  startCommand(catalogue);
  migrateCommand(catalogue);
  migrationCommand(catalogue);
  dropCommand(catalogue);
  describeCommand(catalogue);
  clientCommand(catalogue);
  tokenCommand(catalogue);
  importCommand(catalogue);
  exportCommand(catalogue);
  searchCommand(catalogue);
  verifyCommand(catalogue);
  explainCommand(catalogue);
  return catalogue;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // An AggregateError has no message: every address of a host refused the connection.
  const { message, code } = error as NodeJS.ErrnoException;
  return (message === '' ? (code ?? error.name) : message).split('\n', 1)[0] ?? '';
}
