import { setImmediate as pass, setTimeout as sleep } from 'node:timers/promises';
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../request.js';
import { formOf } from '../negotiation.js';
import { onLeave } from './admission.js';

/** Milliseconds between two looks whether there is room, and for which a request looks. */
const [PAUSE, LONGEST_PAUSE] = [1, 20_000];
/** Answers that are sent in one pass of the event loop. */
const PER_PASS = 50;

interface SentAnswer {
  readonly status: number;
  /** The headers that it got for its answer. */
  readonly headers: readonly (readonly [name: string, value: OutgoingHttpHeader])[];
  readonly body: unknown;
}

/**
 * Requests that wait for a change. They are not in work, and run again as there is room: of those that ask for the same,
 * whose waits end at the same time, only the first, whose answer they all get.
 */
export class WaitingRequests {
  /** The number of requests that wait. */
  size = 0;
  private running = 0;
  private turn = Promise.resolve();
  /** Those whose wait is over and that have not run again, by `keyOf`. */
  private readonly groups = new Map<string, CatalogueRequest[]>();

  /**
   * @param hasRoom whether one more may run again beside as many
   * @param run runs a request again
   */
  constructor(
    private readonly hasRoom: (running: number) => boolean,
    private readonly run: (request: CatalogueRequest) => void,
  ) {}

  /**
   * Answers a request that has left those in work.
   *
   * @param later resolves when its wait is over
   */
  async wait(request: CatalogueRequest, later: Promise<void>): Promise<void> {
    this.size += 1;
    await later;
    const key = keyOf(request);
    const group = key === undefined ? undefined : this.groups.get(key);
    if (group) {
      group.push(request);
      return;
    }
    const own = [request];
    if (key !== undefined) this.groups.set(key, own);
    await this.runFirst(own, () => key !== undefined && this.groups.delete(key));
  }

  /**
   * Runs the first request of a group whose connection is open, and gives the others its answer.
   *
   * @param close called when it runs: those that come later get a later answer
   */
  private async runFirst(group: readonly CatalogueRequest[], close?: () => unknown): Promise<void> {
    const latest = performance.now() + LONGEST_PAUSE;
    const isDue = (): boolean => performance.now() > latest || this.hasRoom(this.running);
    await (this.turn = this.turn.then(async () => {
      while (group.some(isOpen) && !isDue()) await sleep(PAUSE);
    }));
    close?.();
    const [first, ...others] = group.filter(isOpen);
    this.size -= group.length - others.length;
    if (!first) return;
    if (first.waited) first.waited.ended = performance.now();
    this.running += 1;
    onLeave(first.res, () => {
      this.running -= 1;
    });
    const sent = others.length > 0 ? sentAnswer(first.res) : undefined;
    this.run(first);
    if (!sent) return;
    const answer = await sent;
    if (!answer) void this.runFirst(others);
    else if (answer.status < 400 || answer.status >= 500) await this.share(answer, first, others);
    // Some limits of refusals count by address.
    else for (const other of others) void this.runFirst([other]);
  }

  private async share(
    { status, headers, body }: SentAnswer,
    { waited, rows, errcode }: CatalogueRequest,
    others: readonly CatalogueRequest[],
  ): Promise<void> {
    for (const [at, other] of others.entries()) {
      if (at % PER_PASS === 0) await pass();
      this.size -= 1;
      const { res } = other;
      if (res.destroyed) continue;
      if (other.waited) other.waited.ended = waited?.ended;
      Object.assign(other, { rows, errcode, answeredAt: performance.now() });
      for (const [name, value] of headers) res.setHeader(name, value);
      res.statusCode = status;
      res.end(body);
    }
  }
}

function isOpen({ res }: CatalogueRequest): boolean {
  return !res.destroyed;
}

/** What an answer depends on: the credentials, the page and its form. `undefined` for a whole list, which one reader gets. */
function keyOf(request: CatalogueRequest): string | undefined {
  const { method, url, headers, waited } = request;
  if (waited?.key === undefined || formOf(request).format) return undefined;
  const sent = ['authorization', 'x-client-id', 'if-none-match', 'prefer'].map(
    (name) => headers[name],
  );
  return JSON.stringify([waited.key, method, url, formOf(request).encoding, ...sent]);
}

/** What a response is sent as; `undefined` if its connection is closed before, or it is sent in parts. */
function sentAnswer(response: ServerResponse): Promise<SentAnswer | undefined> {
  const before = response.getHeaders();
  return new Promise((resolve) => {
    const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
    response.end = (...args: unknown[]): ServerResponse => {
      const { statusCode: status, headersSent } = response;
      const headers = Object.entries(response.getHeaders()).flatMap(([name, value]) =>
        value === undefined || value === before[name] ? [] : [[name, value] as const],
      );
      resolve(headersSent ? undefined : { status, headers, body: args[0] });
      return end(...args);
    };
    response.once('close', resolve);
  });
}
