import { ConsoleLogger, type LogLevel } from '@nestjs/common';
import { CommandError } from '../command-error.js';
import type { Observation, SlowRequest } from '../http/observation.js';
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

/** Maximum milliseconds for which a line is buffered. */
const FLUSH_DELAY = 100;

/**
 * Writes a line for each request at level `info`, and for each slow one at level `warn`: JSON for a log collector, or
 * text for a terminal. Lines are buffered, since each write may block the process.
 */
export class RequestLog {
  private lines: string[] = [];
  private readonly isJson = isJsonLog();
  private readonly hasRequests: boolean;
  private readonly hasSlow: boolean;

  constructor(level: Settings['logLevel']) {
    this.hasRequests = level === 'info' || level === 'debug';
    this.hasSlow = level !== 'error';
    process.once('exit', this.flush);
  }

  write(observation: Observation): void {
    const { slow } = observation;
    if (this.hasRequests) this.add(this.isJson ? requestAsJson(observation) : asText(observation));
    if (this.hasSlow && slow) {
      this.add(this.isJson ? slowAsJson(observation, slow) : slowAsText(observation, slow));
    }
  }

  private add(line: string): void {
    if (this.lines.length === 0) setTimeout(this.flush, FLUSH_DELAY).unref();
    this.lines.push(`${line}\n`);
  }

  private readonly flush = (): void => {
    if (this.lines.length > 0) process.stdout.write(this.lines.join(''));
    this.lines = [];
  };
}

// Each object is one literal: JSON.stringify takes several times as long for one that is put together.
function requestAsJson(observation: Observation): string {
  const { id, traceId, spanId, method, route, client, address, status, rows } = observation;
  return JSON.stringify({
    level: 'info',
    timestamp: Date.now(),
    context: 'Request',
    requestId: id,
    traceId,
    spanId,
    method,
    route,
    client,
    address,
    status,
    rows,
    errcode: String(observation.errcode),
    milliseconds: rounded(observation.milliseconds),
  });
}

function slowAsJson(observation: Observation, { milliseconds, parameters }: SlowRequest): string {
  const { id, traceId, spanId, route, plan, client, rows, errcode } = observation;
  return JSON.stringify({
    level: 'warn',
    timestamp: Date.now(),
    context: 'Slow',
    requestId: id,
    traceId,
    spanId,
    route,
    parameters,
    plan: plan?.name,
    countedBy: plan?.count,
    client,
    rows,
    errcode: String(errcode),
    milliseconds: rounded(milliseconds),
  });
}

/** Milliseconds, to a hundredth. */
function rounded(milliseconds: number): number {
  return Math.round(milliseconds * 100) / 100;
}

function asText({ id = '-', method = '-', route = '-', ...rest }: Observation): string {
  const { address = '-', client = address, status, errcode, milliseconds, rows } = rest;
  return `${method} ${route} ${status} ${errcode} ${milliseconds.toFixed(1)} ms ${rows} rows ${client} ${id}`;
}

function slowAsText(
  { id = '-', route = '-', plan }: Observation,
  { milliseconds, parameters }: SlowRequest,
): string {
  const read = plan ? `, plan ${plan.name}, counted by ${plan.count}` : '';
  return `slow: ${route} with ${parameters.join(', ') || 'no parameters'}${read} ${milliseconds.toFixed(1)} ms ${id}`;
}
