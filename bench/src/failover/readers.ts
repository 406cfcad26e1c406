import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../background.js';
import type { Cluster } from './cluster.js';
import { Gaps } from './gaps.js';
import { Seen } from './seen.js';

/** What a list answered. */
interface Data {
  readonly count: number;
  /** The identifiers, as numbers. */
  readonly numbers: readonly number[];
}

/** A list, and what is wrong with its response if something is. */
interface Question {
  readonly path: (offset: number) => string;
  /** What it counts, in SQL. */
  readonly rows: string;
  readonly fault: (data: Data, offset: number) => string | undefined;
}

/** Of the rows that the writers insert, the numbers are 1 to their count, at each moment of each history. */
const QUESTIONS: readonly Question[] = [
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10',
    rows: 'products',
    fault: ({ count, numbers }) => differs(numbers, (at) => count - at),
  },
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10&type=DIGITAL',
    rows: "products WHERE type = 'DIGITAL'",
    fault: ({ count, numbers }) => differs(numbers, (at) => 2 * (count - at) - 1),
  },
  {
    path: (offset) => `/brands?fields=brandID&limit=200&offset=${offset}`,
    rows: 'brands',
    fault: ({ count, numbers }, offset) =>
      numbers.length === Math.min(200, Math.max(0, count - offset))
        ? differs(numbers, (at) => offset + at + 1)
        : `${numbers.length} objects of ${count}`,
  },
];

function differs(numbers: readonly number[], expected: (at: number) => number): string | undefined {
  const at = numbers.findIndex((number, index) => number !== expected(index));
  return at === -1 ? undefined : `${numbers[at]} instead of ${expected(at)}`;
}

type Headers = Readonly<Record<string, string>>;

/** What happened to readers. */
export interface Read {
  /** Of the longest time in which one of the lists was not given by the proxy. */
  readonly secondsWithoutReads: number;
  /** Requests to the proxy. */
  readonly requests: number;
  /** By errcode, or by the error of the connection. Those of a flood of waits are told apart. */
  readonly failures: Readonly<Record<string, number>>;
  /** Counts and pages that are not those of any moment. */
  readonly wrongAnswers: readonly string[];
  /** Pages of an instance that lack rows which it had given before, and which the primary has. */
  readonly olderAnswers: number;
  /** For how many seconds it had given them, at most. */
  readonly olderBySeconds: number;
  /** Age of the oldest `X-Updated-Until` of an instance. */
  readonly secondsBehind: number;
}

function nothing() {
  return {
    requests: 0,
    failures: {} as Record<string, number>,
    wrongAnswers: [] as string[],
    olderAnswers: 0,
    olderBySeconds: 0,
    secondsBehind: 0,
  };
}

/** Reads lists all the time, through the proxy and at each instance, and checks each response. */
export class Readers {
  /** Of each question to the proxy. */
  private readonly gaps = QUESTIONS.map(() => new Gaps());
  private found = nothing();
  readonly stop: () => Promise<void>;

  /** @param flooding the credentials of the clients of a flood */
  constructor(
    private readonly cluster: Cluster,
    private readonly headers: Headers,
    private readonly flooding: Headers,
  ) {
    this.stop = inBackground((signal) =>
      Promise.all(
        QUESTIONS.flatMap((question, at) => [
          this.readProxy(question, signal, this.gaps[at]),
          ...cluster.instances.map((address) => this.readInstance(address, question, signal)),
        ]),
      ),
    );
  }

  /** What happened since this was asked last. */
  take(): Read {
    const { found } = this;
    this.found = nothing();
    return { ...found, secondsWithoutReads: Math.max(...this.gaps.map((gaps) => gaps.take())) };
  }

  /** Starts many clients that wait for changes of a list, each again a second after its answer. The result ends them. */
  flood(clients: number): () => Promise<void> {
    return inBackground((signal) =>
      Promise.all(Array.from({ length: clients }, () => this.wait(signal))),
    );
  }

  private async wait(told: AbortSignal): Promise<void> {
    let etag = '""';
    while (!told.aborted) {
      await sleep(500 + Math.random() * 1000);
      this.found.requests += 1;
      try {
        const response = await fetch(`${this.cluster.address}/brands?limit=1`, {
          headers: { ...this.flooding, 'If-None-Match': etag, Prefer: 'wait=50' },
          signal: AbortSignal.any([told, AbortSignal.timeout(90_000)]),
        });
        etag = response.headers.get('etag') ?? etag;
        const body = await response.text();
        if (response.ok || response.status === 304) continue;
        this.failed(`${(JSON.parse(body) as Envelope).result.errcode} of a wait`);
        await sleep(Number(response.headers.get('retry-after')) * 1000);
      } catch (error) {
        if ((error as Error).name !== 'AbortError') this.failed(`${String(error)} of a wait`);
      }
    }
  }

  private async readProxy(question: Question, told: AbortSignal, gaps?: Gaps): Promise<void> {
    while (!told.aborted) {
      await sleep(20);
      const offset = Math.floor(Math.random() * 2000);
      const data = await this.askProxy(question.path(offset));
      if (!data) continue;
      gaps?.success();
      this.check(question, data, offset);
    }
  }

  /** Asks the proxy, and counts the request. Gives what succeeds. */
  private async askProxy(path: string): Promise<Data | undefined> {
    this.found.requests += 1;
    try {
      const response = await this.ask(this.cluster.address + path);
      if (response.ok) return await dataOf(response);
      this.failed(((await response.json()) as Envelope).result.errcode);
    } catch (error) {
      this.failed(String(error));
    }
    return undefined;
  }

  private async readInstance(
    address: string,
    question: Question,
    told: AbortSignal,
  ): Promise<void> {
    const seen = new Seen();
    while (!told.aborted) {
      await sleep(100);
      const offset = Math.floor(Math.random() * 2000);
      try {
        const response = await this.ask(address + question.path(offset));
        if (!response.ok) continue;
        const watermark = response.headers.get('x-updated-until');
        const data = await dataOf(response);
        this.check(question, data, offset);
        if (watermark) this.behind(watermark);
        const seconds = seen.take(data.count);
        if (seconds === 0) continue;
        if (await this.hasLost(seen.greatest, question)) {
          seen.clear();
          continue;
        }
        this.found.olderAnswers += 1;
        this.found.olderBySeconds = Math.max(this.found.olderBySeconds, seconds);
      } catch {
        // What fails is counted at the proxy.
      }
    }
  }

  /** Whether rows that were given are gone, with the commits that wrote them. */
  private async hasLost(given: number, { rows: counted }: Question): Promise<boolean> {
    const primary = await this.cluster.connect('postgres').catch(() => undefined);
    if (!primary) return false;
    try {
      const { rows } = await primary.query<{ count: string }>(`SELECT count(*) FROM ${counted}`);
      return Number(rows[0]?.count) < given;
    } catch {
      return false;
    } finally {
      await primary.end();
    }
  }

  private ask(url: string): Promise<Response> {
    return fetch(url, { headers: this.headers, signal: AbortSignal.timeout(30_000) });
  }

  private check({ path, fault }: Question, data: Data, offset: number): void {
    const found = fault(data, offset);
    if (found !== undefined) this.found.wrongAnswers.push(`${path(offset)}: ${found}`);
  }

  private behind(watermark: string): void {
    // Behind the milliseconds is the mark of the history.
    const seconds = (Date.now() - Date.parse(`${watermark.slice(0, 23)}Z`)) / 1000;
    this.found.secondsBehind = Math.max(this.found.secondsBehind, seconds);
  }

  private failed(reason: string): void {
    this.found.failures[reason] = (this.found.failures[reason] ?? 0) + 1;
  }
}

async function dataOf(response: Response): Promise<Data> {
  const { count, objects } = ((await response.json()) as Envelope).response_data;
  const numbers = objects.flatMap((object) => Object.values(object)).map(Number);
  return { count: Number(count), numbers };
}

interface Envelope {
  readonly result: { readonly errcode: string };
  readonly response_data: {
    readonly count: string;
    readonly objects: readonly Readonly<Record<string, string>>[];
  };
}
