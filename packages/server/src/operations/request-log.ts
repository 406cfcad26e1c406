import type { Observation, SlowRequest } from '../http/observation.js';
import type { Settings } from '../settings/settings.js';
import { isJsonLog } from './start-line.js';

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
