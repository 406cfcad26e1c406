import type { Observation, SlowRequest } from '../http/observation.js';
import type { Settings } from '../settings/settings.js';
import { isJsonLog } from './service-logger.js';

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

function requestAsJson(observation: Observation): string {
  const { method, route, client, address, status, milliseconds } = observation;
  const fields = { method, route, client, address, status };
  return asJson('info', 'Request', observation, fields, milliseconds);
}

function slowAsJson(observation: Observation, { milliseconds, parameters }: SlowRequest): string {
  const { route, plan, client } = observation;
  const fields = { route, parameters, plan: plan?.name, countedBy: plan?.count, client };
  return asJson('warn', 'Slow', observation, fields, milliseconds);
}

function asJson(
  level: string,
  context: string,
  { id: requestId, traceId, spanId, rows, errcode }: Observation,
  fields: object,
  milliseconds: number,
): string {
  return JSON.stringify({
    ...{ level, timestamp: Date.now(), context, requestId, traceId, spanId },
    ...fields,
    ...{ rows, errcode: String(errcode), milliseconds: Math.round(milliseconds * 100) / 100 },
  });
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
