import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { answerTasks } from './processes.js';

/** Requests that wait for a change of one list, and the changes. */
export interface Waits {
  readonly url: string;
  readonly clients: readonly Record<string, string>[];
  readonly databaseUrl: string;
  readonly metricsUrl: string;
  readonly connections: number;
  /** How many times something changes. Then all wait again, until the next task. */
  readonly changes: number;
}

export interface WaitsResult {
  /** Milliseconds from a commit to each answer. */
  readonly times: readonly number[];
}

/** Requests that are sent at once: what a client may have in work. */
const AT_ONCE = 4;
const ACCEPTED = { 'Accept-Encoding': 'gzip' };

let open: Waiting[] = [];

answerTasks(run);

/** A connection that gets one answer after the other. */
class Waiting {
  private socket: Socket | undefined;
  private text = '';
  private answered: ((answer: string) => void) | undefined;

  constructor(
    private readonly address: URL,
    private readonly headers: Readonly<Record<string, string>>,
  ) {}

  /** The answer, or why there is none. It is connected by the first request. */
  ask(more: Readonly<Record<string, string>>): Promise<string> {
    const { hostname, port, pathname } = this.address;
    this.socket ??= connect(Number(port), hostname)
      .setEncoding('latin1')
      .on('data', this.read)
      .on('error', ({ message }) => this.answered?.(message));
    const headers = Object.entries({ Host: 'a', ...ACCEPTED, ...this.headers, ...more });
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
    this.socket.write(`GET ${pathname} HTTP/1.1\r\n${lines.join('')}\r\n`);
    return new Promise((resolve) => (this.answered = resolve));
  }

  end(): void {
    this.socket?.destroy();
  }

  private readonly read = (chunk: string): void => {
    this.text += chunk;
    const [head = '', ...rest] = this.text.split('\r\n\r\n');
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
    if (rest.length === 0 || this.text.length < head.length + 4 + length) return;
    this.text = '';
    this.answered?.(head);
  };
}

async function run({
  url,
  clients,
  databaseUrl,
  metricsUrl,
  connections,
  changes,
}: Waits): Promise<WaitsResult> {
  for (const each of open) each.end();
  const address = new URL(url);
  open = Array.from(
    { length: connections },
    (_, at) => new Waiting(address, clients[at % clients.length] ?? {}),
  );
  const perBatch = AT_ONCE * clients.length;
  for (let at = 0; at < open.length; at += perBatch)
    await Promise.all(open.slice(at, at + perBatch).map((waiting) => waiting.ask({})));
  const database = new pg.Client(databaseUrl);
  await database.connect();
  const times: number[] = [];
  for (let change = 0; change <= changes; change += 1) {
    let committed = NaN;
    const answers: Promise<void>[] = [];
    const asking = new Waiting(address, clients[0] ?? {});
    const tag = /^etag: (.*)\r$/im.exec(await asking.ask({}))?.[1] ?? '';
    asking.end();
    const told = async (waiting: Waiting): Promise<string> => {
      const text = await waiting.ask({ 'If-None-Match': tag, Prefer: 'wait=60' });
      if (committed > 0 || !text.startsWith('HTTP/1.1 503')) return text;
      // Its client has too many in work.
      await sleep(100);
      return told(waiting);
    };
    for (const [at, waiting] of open.entries()) {
      answers.push(
        told(waiting).then((text) => {
          if (!text.startsWith('HTTP/1.1 200') || !(committed > 0))
            throw new Error(`Not told of a change: ${text.slice(0, 200)}`);
          times.push(performance.now() - committed);
        }),
      );
      if (at % perBatch > 0) continue;
      // The batch before it waits by now.
      while ((await waitingAt(metricsUrl)) < at - perBatch) await sleep(10);
    }
    while ((await waitingAt(metricsUrl)) < open.length) await sleep(10);
    if (change === changes) {
      // They go on to wait.
      for (const answer of answers) answer.catch(() => undefined);
      break;
    }
    // At any time between two looks.
    await sleep(1000 * Math.random());
    committed = performance.now();
    await database.query(`UPDATE products SET price = $1 WHERE "productID" = 'p-00000001'`, [
      Math.ceil(1e5 * Math.random()),
    ]);
    await Promise.all(answers);
  }
  await database.end();
  return { times };
}

/** The number of requests that wait. */
async function waitingAt(metricsUrl: string): Promise<number> {
  const metrics = await (await fetch(metricsUrl)).text();
  return Number(/^catalogue_requests_waiting (\d+)/m.exec(metrics)?.[1]);
}
