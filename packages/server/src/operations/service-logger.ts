import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import { CommandError } from '../command-error.js';
import type { Settings } from '../settings/settings.js';
import { isJsonLog } from './start-line.js';

/** The levels that are logged at each value of `LOG_LEVEL`. */
const LEVELS: Readonly<Record<Settings['logLevel'], LogLevel[]>> = {
  error: ['fatal', 'error'],
  warn: ['fatal', 'error', 'warn'],
  info: ['fatal', 'error', 'warn', 'log'],
  debug: ['fatal', 'error', 'warn', 'log', 'debug'],
};

/** Nest's logger, with the name that `LOG_LEVEL` has for the level that Nest calls `log`. */
export class ServiceLogger extends ConsoleLogger {
  constructor(level: Settings['logLevel']) {
    super({ logLevels: LEVELS[level], json: isJsonLog() });
  }

  /** Leaves out a `CommandError`, which Nest logs before it throws it on: `run` prints it, as one line. */
  override error(...line: Parameters<ConsoleLogger['error']>): void {
    if (!(line[0] instanceof CommandError)) super.error(...line);
  }

  protected override getJsonLogObject(
    ...parameters: Parameters<ConsoleLogger['getJsonLogObject']>
  ): ReturnType<ConsoleLogger['getJsonLogObject']> {
    const line = super.getJsonLogObject(...parameters);
    return { ...line, level: nameOf(line.level) as LogLevel };
  }

  protected override formatMessage(
    ...[level, message, pid, , ...rest]: Parameters<ConsoleLogger['formatMessage']>
  ): string {
    return super.formatMessage(level, message, pid, nameOf(level).toUpperCase(), ...rest);
  }
}

function nameOf(level: LogLevel): string {
  return level === 'log' ? 'info' : level;
}
