import { connect, type Socket } from 'node:net';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { answerTasks } from './processes.js';
import { seeded } from './random.js';

/**
 * A load whose requests are sent at times drawn before, whether or not earlier ones were answered. A
 * closed-loop generator sends no request while its connections wait, so that an overloaded server slows
 * it down, and the latencies of the requests that it did not send are missing.
 */
export interface OpenLoad {
  readonly url: string;
  /** The credentials of each client; the connections are shared out among them. */
  readonly clients: readonly Record<string, string>[];
  readonly connections: number;
  /** Requests a second. The intervals between them have an exponential distribution. */
  readonly rate: number;
  readonly seconds: number;
  /** The address of the health check. The load requests it a hundred times a second, on further connections. */
  readonly healthUrl: string;
}

/** Responses, with milliseconds from the time at which their requests were due. */
export interface Latencies {
  /** Those that came while requests were sent. */
  readonly perSecond: number;
  readonly p50: number;
  readonly p99: number;
}

export interface OpenLoadResult {
  readonly admitted: Latencies;
  /** Those that got 503. */
  readonly refused: Latencies;
  readonly health: Latencies;
  /** Answers to the health checks other than 200. */
  readonly unhealthy: number;
  /** Connections that failed, or were closed before all of their requests were answered. */
  readonly broken: number;
  /** Requests that had no answer ten seconds after the last one was sent. */
  readonly unanswered: number;
  /** The p99 delay of the generator itself in milliseconds, which the latencies contain. */
  readonly generatorDelay: number;
}

const GRACE = 10_000;
/** Milliseconds between the connections and the first request. */
const CONNECTED_BEFORE = 2000;
/** Milliseconds between two health checks. */
const HEALTH_INTERVAL = 10;
/** Connections for the health checks. The service refuses what one connection sends ahead beyond a bound. */
const PROBES = 5;
const END_OF_HEAD = Buffer.from('\r\n\r\n');

answerTasks(run);

/** Sends requests on one connection and reports their answers in order. It reconnects when it is closed. */
class Connection {
  private socket: Socket | undefined;
  /** When the requests without an answer were due. */
  private pending: number[] = [];
  private head: Buffer | undefined;
  /** Bytes of the current body that have not arrived yet. */
  private remaining = 0;

  constructor(
    private readonly address: { host: string; port: number },
    private readonly request: string,
    private readonly answered: (status: number, due: number, connection: Connection) => void,
    private readonly failed: (lost: number, connection: Connection) => void,
  ) {
    this.open();
  }

  /** Whether every request has its answer. */
  get isIdle(): boolean {
    return this.pending.length === 0;
  }

  /** @param due the `performance.now()` from which its latency counts */
  send(due: number): void {
    if (!this.socket) this.open();
    this.pending.push(due);
    this.socket?.write(this.request);
  }

  close(): void {
    this.pending = [];
    this.socket?.destroy();
  }

  private open(): void {
    const socket = connect(this.address).setNoDelay();
    this.socket = socket;
    this.head = undefined;
    this.remaining = 0;
    socket.on('data', (data: Buffer) => {
      this.read(data);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (this.socket === socket) this.socket = undefined;
      const lost = this.pending.splice(0).length;
      if (lost > 0) this.failed(lost, this);
    });
  }

  private read(data: Buffer): void {
    let rest = data;
    while (rest.length > 0) {
      const skipped = Math.min(this.remaining, rest.length);
      this.remaining -= skipped;
      rest = rest.subarray(skipped);
      if (this.remaining > 0 || rest.length === 0) continue;
      const known = this.head ? Buffer.concat([this.head, rest]) : rest;
      const end = known.indexOf(END_OF_HEAD);
      if (end < 0) {
        this.head = known;
        return;
      }
      this.head = undefined;
      const head = known.toString('latin1', 0, end);
      this.remaining = Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      rest = known.subarray(end + END_OF_HEAD.length);
      // Its body may still be on its way. It comes in the same or the next packets.
      this.answered(Number(head.slice(9, 12)), this.pending.shift() ?? NaN, this);
    }
  }
}

async function run(load: OpenLoad): Promise<OpenLoadResult> {
  const { connections, rate, seconds } = load;
  const random = seeded(connections * 31 + rate);
  const admitted: number[] = [];
  const refused: number[] = [];
  const health: number[] = [];
  let [broken, lost, unhealthy, wrong] = [0, 0, 0, ''];
  let waiting = 0;
  const idle: Connection[] = [];
  const answered = (status: number, due: number, connection: Connection): void => {
    waiting -= 1;
    if (connection.isIdle) idle.push(connection);
    const latency = performance.now() - due;
    if (status === 200) admitted.push(latency);
    else if (status === 503) refused.push(latency);
    else wrong = `${load.url} answered ${status}`;
  };
  const failed = (requests: number, connection: Connection): void => {
    idle.push(connection);
    broken += 1;
    lost += requests;
    waiting -= requests;
  };
  const address = addressOf(load.url);
  const requests = load.clients.map((headers) => requestFor(load.url, headers));
  const all = Array.from(
    { length: connections },
    (_, at) => new Connection(address, requests[at % requests.length] ?? '', answered, failed),
  );
  idle.push(...all);
  const probes = Array.from(
    { length: PROBES },
    () =>
      new Connection(
        addressOf(load.healthUrl),
        requestFor(load.healthUrl, {}),
        (status, due) => {
          health.push(performance.now() - due);
          if (status !== 200) unhealthy += 1;
        },
        () => undefined,
      ),
  );
  await new Promise((resolve) => setTimeout(resolve, CONNECTED_BEFORE));
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  const until = began + seconds * 1000;
  let [due, healthDue, turn, probeTurn] = [began, began, 0, 0];
  while (performance.now() < until) {
    const now = performance.now();
    for (; due <= now; due -= (Math.log(1 - random()) / rate) * 1000) {
      // With none idle, the next one in turn gets a second request before its answer.
      const connection = idle.shift() ?? all[(turn += 1) % all.length];
      waiting += 1;
      connection?.send(due);
    }
    for (; healthDue <= now; healthDue += HEALTH_INTERVAL) {
      probes[(probeTurn += 1) % PROBES]?.send(healthDue);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  delay.disable();
  const inTime = { admitted: admitted.length, refused: refused.length, health: health.length };
  for (const end = performance.now() + GRACE; waiting > 0 && performance.now() < end;) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  const unanswered = waiting;
  for (const connection of [...all, ...probes]) connection.close();
  if (wrong) throw new Error(wrong);
  return {
    admitted: latenciesOf(admitted, admitted.length - inTime.admitted, seconds),
    refused: latenciesOf(refused, refused.length - inTime.refused, seconds),
    health: latenciesOf(health, health.length - inTime.health, seconds),
    unhealthy,
    broken,
    unanswered: unanswered + lost,
    generatorDelay: delay.percentile(99) / 1e6,
  };
}

/** @param late those that came after the last request was sent */
function latenciesOf(times: number[], late: number, seconds: number): Latencies {
  times.sort((one, other) => one - other);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? NaN;
  return { perSecond: (times.length - late) / seconds, p50: at(0.5), p99: at(0.99) };
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

function requestFor(url: string, headers: Record<string, string>): string {
  const { host, pathname, search } = new URL(url);
  const lines = Object.entries({ Host: host, ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}
