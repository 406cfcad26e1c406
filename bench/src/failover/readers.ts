import { setTimeout as sleep } from 'node:timers/promises';
import { Gaps } from './gaps.js';

interface Envelope {
  readonly result: { readonly errcode: string };
  readonly response_data: {
    readonly count: number;
    readonly objects: readonly Readonly<Record<string, string>>[];
  };
}

/** A list, and what is wrong with its response if something is. */
interface Question {
  readonly path: () => string;
  readonly fault: (response: Envelope['response_data'], path: string) => string | undefined;
}

/** Of the rows that the writers insert, the numbers are 1 to their count, at each moment of each history. */
const QUESTIONS: readonly Question[] = [
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10',
    fault: ({ count, objects }) => {
      const numbers = objects.map(({ productID }) => Number(productID));
      return differs(numbers, (at) => count - at);
    },
  },
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10&type=DIGITAL',
    fault: ({ count, objects }) => {
      const numbers = objects.map(({ productID }) => Number(productID));
      return differs(numbers, (at) => 2 * (count - at) - 1);
    },
  },
  {
    path: () => `/brands?fields=brandID&limit=200&offset=${Math.floor(Math.random() * 2000)}`,
    fault: ({ count, objects }, path) => {
      const offset = Number(path.split('offset=')[1]);
      const numbers = objects.map(({ brandID }) => Number(brandID));
      if (objects.length !== Math.min(200, Math.max(0, count - offset))) {
        return `${objects.length} objects of ${count}`;
      }
      return differs(numbers, (at) => offset + at + 1);
    },
  },
];

function differs(numbers: readonly number[], expected: (at: number) => number): string | undefined {
  const at = numbers.findIndex((number, index) => number !== expected(index));
  return at === -1 ? undefined : `${numbers[at]} instead of ${expected(at)}`;
}

/** Reads lists through the proxy all the time, and checks each response. */
export class Readers {
  /** Of each question. */
  private readonly gaps = QUESTIONS.map(() => new Gaps());
  private requests = 0;
  private readonly failures = new Map<string, number>();
  private wrong: string[] = [];
  private readonly told = new AbortController();
  private readonly ended: Promise<unknown>;

  constructor(
    private readonly address: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    this.ended = Promise.all(QUESTIONS.map((question, at) => this.run(question, this.gaps[at])));
  }

  async stop(): Promise<void> {
    this.told.abort();
    await this.ended;
  }

  /** What happened since this was asked last. */
  take(): {
    seconds: number;
    requests: number;
    failures: Record<string, number>;
    wrong: string[];
  } {
    const taken = {
      /** Of the longest time in which one of the lists was not given. */
      seconds: Math.max(...this.gaps.map((gaps) => gaps.take())),
      requests: this.requests,
      failures: Object.fromEntries(this.failures),
      wrong: this.wrong,
    };
    this.requests = 0;
    this.failures.clear();
    this.wrong = [];
    return taken;
  }

  private async run({ path, fault }: Question, gaps?: Gaps): Promise<void> {
    while (!this.told.signal.aborted) {
      const asked = path();
      this.requests += 1;
      try {
        const response = await fetch(this.address + asked, {
          headers: this.headers,
          signal: AbortSignal.timeout(30_000),
        });
        const { result, response_data: data } = (await response.json()) as Envelope;
        if (response.ok) {
          gaps?.success();
          const found = fault(data, asked);
          if (found !== undefined) this.wrong.push(`${asked}: ${found}`);
        } else {
          this.failed(result.errcode);
        }
      } catch (error) {
        this.failed(String(error));
      }
      await sleep(20);
    }
  }

  private failed(reason: string): void {
    this.failures.set(reason, (this.failures.get(reason) ?? 0) + 1);
  }
}
