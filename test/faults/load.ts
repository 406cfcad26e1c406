import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '#server/testing/random.js';
import { until } from '../until.js';

/** The outcome of a request. */
export interface Outcome {
  /** `performance.now()` values. */
  readonly began: number;
  readonly ended: number;
  /** HTTP status; 0 if there was no response. */
  readonly status: number;
  /** The errcode of the envelope; undefined if there was none. */
  readonly errcode: string | undefined;
  /** System error code, if there was no response. */
  readonly failure?: string;
}

/** Milliseconds between the response to a client and its next request. */
const PAUSE = 20;

/** Concurrent clients that send requests one after another, with pauses, until they are stopped. */
export class Load {
  readonly outcomes: Outcome[] = [];
  private stopped = false;
  private readonly random = new Random('load');
  private readonly agent: Agent;
  private readonly clients: Promise<void>[];

  /**
   * @param clients number of concurrent clients
   * @param addresses of instances, used in turn
   * @param paths requested in turn
   */
  constructor(
    clients: number,
    private readonly addresses: readonly string[],
    private readonly paths: readonly string[],
    private readonly headers: Record<string, string>,
  ) {
    this.agent = new Agent({ keepAlive: true, maxSockets: clients });
    this.clients = Array.from({ length: clients }, () => this.keepAsking());
  }

  /** The outcomes of requests that began after a `performance.now()` value. */
  since(moment: number): Outcome[] {
    return this.outcomes.filter(({ began }) => began > moment);
  }

  /** Waits until that many more requests have ended. */
  async untilMore(requests: number): Promise<void> {
    const enough = this.outcomes.length + requests;
    await until(() => this.outcomes.length >= enough);
  }

  async stop(): Promise<Outcome[]> {
    this.stopped = true;
    await Promise.all(this.clients);
    this.agent.destroy();
    return this.outcomes;
  }

  private async keepAsking(): Promise<void> {
    while (!this.stopped) {
      const outcome = await this.ask();
      this.outcomes.push(outcome);
      // Without it, the clients would take the processors from what is tested, and from tests beside it.
      await sleep(PAUSE);
    }
  }

  private ask(): Promise<Outcome> {
    const { addresses, paths, headers, agent, outcomes } = this;
    const turn = outcomes.length + this.random.below(1000);
    const url = `${addresses[turn % addresses.length]}${paths[turn % paths.length]}`;
    const began = performance.now();
    return new Promise((resolve) => {
      const end = (status: number, errcode?: string, failure?: string) => {
        resolve({ began, ended: performance.now(), status, errcode, failure });
      };
      const asked = request(url, { agent, headers }, (response) => {
        let body = '';
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => (body += chunk));
        response.on('error', (error: NodeJS.ErrnoException) => {
          end(0, undefined, error.code ?? error.message);
        });
        response.on('end', () => {
          end(response.statusCode ?? 0, errcodeOf(body));
        });
      });
      asked.on('error', (error: NodeJS.ErrnoException) => {
        end(0, undefined, error.code ?? error.message);
      });
      asked.end();
    });
  }
}

function errcodeOf(body: string): string | undefined {
  try {
    return (JSON.parse(body) as { result: { errcode: string } }).result.errcode;
  } catch {
    return undefined;
  }
}
