import type { Observation } from '../http/observation.js';

/** Writes a line for each request: JSON for a collector of logs, or plain for a terminal. */
export class RequestLog {
  constructor(private readonly json: boolean) {}

  write(observation: Observation): void {
    process.stdout.write(`${this.json ? asJson(observation) : asText(observation)}\n`);
  }
}

function asJson({ id, milliseconds, errcode, ...rest }: Observation): string {
  return JSON.stringify({
    level: 'log',
    timestamp: Date.now(),
    context: 'Request',
    requestId: id,
    ...rest,
    errcode: String(errcode),
    milliseconds: Number(milliseconds.toFixed(2)),
  });
}

function asText({ id = '-', method = '-', route = '-', ...rest }: Observation): string {
  const { client = '-', status, errcode, milliseconds, rows } = rest;
  return `${method} ${route} ${status} ${errcode} ${milliseconds.toFixed(1)} ms ${rows} rows ${client} ${id}`;
}
