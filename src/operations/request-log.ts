import type { Observation } from '../http/server/observation.js';

/** Maximum milliseconds for which a line is buffered. */
const FLUSH_DELAY = 100;

/**
 * Writes a line for each request to standard output: JSON for a log collector, or text for a
 * terminal. Lines are buffered and written together, since each write may block the process.
 */
export class RequestLog {
  private lines: string[] = [];

  constructor(private readonly json: boolean) {
    process.once('exit', this.flush);
  }

  write(observation: Observation): void {
    if (this.lines.length === 0) setTimeout(this.flush, FLUSH_DELAY).unref();
    this.lines.push(`${this.json ? asJson(observation) : asText(observation)}\n`);
  }

  private readonly flush = (): void => {
    if (this.lines.length > 0) process.stdout.write(this.lines.join(''));
    this.lines = [];
  };
}

function asJson(observation: Observation): string {
  const { id, method, route, client, address, status, rows, errcode, milliseconds } = observation;
  return JSON.stringify({
    level: 'log',
    timestamp: Date.now(),
    context: 'Request',
    requestId: id,
    method,
    route,
    client,
    address,
    status,
    rows,
    errcode: String(errcode),
    milliseconds: Math.round(milliseconds * 100) / 100,
  });
}

function asText({ id = '-', method = '-', route = '-', ...rest }: Observation): string {
  const { address = '-', client = address, status, errcode, milliseconds, rows } = rest;
  return `${method} ${route} ${status} ${errcode} ${milliseconds.toFixed(1)} ms ${rows} rows ${client} ${id}`;
}
