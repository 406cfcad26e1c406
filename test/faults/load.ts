import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Random } from '../random.js';
import { until } from '../until.js';

/** What became of one request. */
export interface Outcome {
  /** Moments of the monotonic clock, in milliseconds. */
  readonly began: number;
  readonly ended: number;
  /** Of HTTP; 0 where there was no answer. */
  readonly status: number;
  /** As the envelope has it; undefined where there was none. */
  readonly errcode: string | undefined;
  /** Why there was no answer, as a code of the system. */
  readonly failure?: string;
}

/** Clients that ask one thing after another until they are stopped. */
export class Load {
  readonly outcomes: Outcome[] = [];
  private stopped = false;
  private readonly random = new Random('load');
  private readonly agent: Agent;
  private readonly clients: Promise<void>[];

  /**
   * @param addresses of instances, asked in turns
   * @param paths asked in turns
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

  /** Those that began after a moment. */
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
      // Who finds nobody there does not ask a thousand times a second.
      if (outcome.failure) await sleep(10);
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
