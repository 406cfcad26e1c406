import { Command, CommanderError } from 'commander';
import { BadRows } from '../import/problems.js';
import { CommandError } from '../command-error.js';
import { clientCommand, tokenCommand } from './client.commands.js';
import { exportCommand, importCommand } from './import.commands.js';
import { migrateCommand, migrationCommand, verifyCommand } from './schema.commands.js';
import { startCommand } from './start.command.js';

/** Exit statuses of every command. */
const DONE = 0;
const REFUSED = 1;
const WRONG_USAGE = 2;

/**
 * Runs one command line and gives its exit status. What goes wrong is one line on standard error,
 * after the bad rows of a file if it is about those.
 */
export async function run(args: readonly string[]): Promise<number> {
  try {
    await program().parseAsync([...args], { from: 'user' });
    return DONE;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? DONE : WRONG_USAGE;
    // A reader that has seen enough, such as `head`, wants to hear no more.
    if ((error as NodeJS.ErrnoException).code === 'EPIPE') return REFUSED;
    if (error instanceof BadRows) for (const line of error.lines()) console.error(line);
    console.error(`catalogue: ${messageOf(error)}`);
    if (!(error instanceof CommandError) && process.env.LOG_LEVEL === 'debug') console.error(error);
    return REFUSED;
  }
}

function program(): Command {
  const catalogue = new Command('catalogue')
    .description('Lists collections of resources over HTTP')
    .configureHelp({ showGlobalOptions: true })
    .exitOverride();
  const commands = [
    startCommand(),
    migrateCommand(),
    migrationCommand(),
    clientCommand(),
    tokenCommand(),
    importCommand(),
    exportCommand(),
    verifyCommand(),
  ];
  for (const command of commands) catalogue.addCommand(overridden(command));
  return catalogue;
}

/** A command that throws instead of ending the process, with all below it. */
function overridden(command: Command): Command {
  command.exitOverride();
  command.commands.forEach((child) => overridden(child));
  return command;
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node gives an error without a message where every address of a host refused.
  const { message, code } = error as NodeJS.ErrnoException;
  return (message === '' ? (code ?? error.name) : message).split('\n', 1)[0] ?? '';
}
