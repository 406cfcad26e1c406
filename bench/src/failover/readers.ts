import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../background.js';
import { Gaps } from './gaps.js';

/** What a list answered. */
interface Data {
  readonly count: number;
  /** The identifiers, as numbers. */
  readonly numbers: readonly number[];
}

/** A list, and what is wrong with its response if something is. */
interface Question {
  readonly path: (offset: number) => string;
  readonly fault: (data: Data, offset: number) => string | undefined;
}

/** Of the rows that the writers insert, the numbers are 1 to their count, at each moment of each history. */
const QUESTIONS: readonly Question[] = [
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10',
    fault: ({ count, numbers }) => differs(numbers, (at) => count - at),
  },
  {
    path: () => '/products?fields=productID&sort=-productID&limit=10&type=DIGITAL',
    fault: ({ count, numbers }) => differs(numbers, (at) => 2 * (count - at) - 1),
  },
  {
    path: (offset) => `/brands?fields=brandID&limit=200&offset=${offset}`,
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

/** Reads lists through the proxy all the time, and checks each response. */
export class Readers {
  /** Of each question. */
  private readonly gaps = QUESTIONS.map(() => new Gaps());
  private requests = 0;
  private failures: Record<string, number> = {};
  private wrong: string[] = [];
  readonly stop: () => Promise<void>;

  constructor(
    private readonly address: string,
    private readonly headers: Readonly<Record<string, string>>,
  ) {
    this.stop = inBackground((signal) =>
      Promise.all(QUESTIONS.map((question, at) => this.run(question, signal, this.gaps[at]))),
    );
  }

  /** What happened since this was asked last. */
  take(): {
    secondsWithoutReads: number;
    requests: number;
    failures: Record<string, number>;
    wrongAnswers: string[];
  } {
    const { requests, failures, wrong: wrongAnswers } = this;
    [this.requests, this.failures, this.wrong] = [0, {}, []];
    // Of the longest time in which one of the lists was not given.
    const secondsWithoutReads = Math.max(...this.gaps.map((gaps) => gaps.take()));
    return { secondsWithoutReads, requests, failures, wrongAnswers };
  }

  private async run({ path, fault }: Question, told: AbortSignal, gaps?: Gaps): Promise<void> {
    while (!told.aborted) {
      await sleep(20);
      const offset = Math.floor(Math.random() * 2000);
      this.requests += 1;
      try {
        const response = await fetch(this.address + path(offset), {
          headers: this.headers,
          signal: AbortSignal.timeout(30_000),
        });
        const body = (await response.json()) as Envelope;
        if (!response.ok) {
          this.failed(body.result.errcode);
          continue;
        }
        gaps?.success();
        const { count, objects } = body.response_data;
        const numbers = objects.flatMap((object) => Object.values(object)).map(Number);
        const found = fault({ count, numbers }, offset);
        if (found !== undefined) this.wrong.push(`${path(offset)}: ${found}`);
      } catch (error) {
        this.failed(String(error));
      }
    }
  }

  private failed(reason: string): void {
    this.failures[reason] = (this.failures[reason] ?? 0) + 1;
  }
}

interface Envelope {
  readonly result: { readonly errcode: string };
  readonly response_data: {
    readonly count: number;
    readonly objects: readonly Readonly<Record<string, string>>[];
  };
}
