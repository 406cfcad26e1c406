import type { ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { CatalogueRequest } from '../request.js';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import { errors } from '../errors.js';
import type { HeaderList } from './headers.js';

/** The event of a response that is put off until something changes. */
export const PUT_OFF = 'putOff';

/** Requests in work for each connection to the database: those that it runs one after another. */
const PER_DATABASE_CONNECTION = 10;
/** One client connection may have 1/`divisor` of the requests in work, and at least `minimum`. */
const CONNECTION_SHARE = { divisor: 4, minimum: 8 };

/**
 * Limits the requests in work: those whose response has not been passed to its connection in full.
 * A response that has ended and waits for its reader does not count.
 */
export class Admission {
  // Not a `Set` of the responses. V8 moves the entries of a `Set` to a new table every few additions.
  // The old tables keep responses, with all that they refer to, until a full garbage collection.
  private working = 0;
  private readonly byConnection = new WeakMap<Duplex, number>();

  /**
   * @param maximum requests in work
   * @param connectionMaximum requests in work on one client connection
   */
  constructor(
    readonly maximum: number,
    readonly connectionMaximum: number,
  ) {}

  /** The limits of a service with as many connections to the database. */
  static of(poolSize: number): Admission {
    const maximum = PER_DATABASE_CONNECTION * poolSize;
    const share = Math.ceil(maximum / CONNECTION_SHARE.divisor);
    return new Admission(maximum, Math.max(CONNECTION_SHARE.minimum, share));
  }

  /** The number of requests in work. */
  get size(): number {
    return this.working;
  }

  /** Counts a request until its response is ended, closed or put off; false if it exceeds a limit and must be refused. */
  add(response: ServerResponse): boolean {
    const { socket } = response.req;
    const ofConnection = (this.byConnection.get(socket) ?? 0) + 1;
    this.working += 1;
    this.byConnection.set(socket, ofConnection);
    onLeave(response, () => {
      this.working -= 1;
      this.byConnection.set(socket, (this.byConnection.get(socket) ?? 1) - 1);
    });
    return this.working <= this.maximum && ofConnection <= this.connectionMaximum;
  }
}

/** Calls a listener once, when a response is ended, closed or put off. */
export function onLeave(response: ServerResponse, listener: () => void): void {
  let hasLeft = false;
  const leave = (): void => {
    if (!hasLeft) listener();
    hasLeft = true;
  };
  onEnd(response, leave);
  response.once('close', leave);
  response.once(PUT_OFF, leave);
}

/**
 * Calls a listener when `end()` of a response is called. The response has then been passed to its
 * connection in full. The event `finish`, in contrast, waits until the system has taken the data.
 *
 * It sets an own property, so that it holds for this response alone, whatever its prototype.
 */
export function onEnd(response: ServerResponse, listener: () => void): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]): ServerResponse => {
    end(...args);
    listener();
    return response;
  };
}

const ERROR = errors.busy();
const BODY = errorEnvelope(ERROR);
const HEADERS = [
  ...Object.entries(ERROR.headers),
  ['Content-Type', JSON_TYPE],
  ['Content-Length', String(Buffer.byteLength(BODY))],
].flat();

/**
 * Sends `-4` without computing it. An overloaded service sends it to most requests, and the time that it takes is
 * not available to those that were admitted.
 *
 * @param id the request id
 * @param common the headers of every response, except `X-Request-Id`
 */
export function sendBusy(response: ServerResponse, id: string, common: HeaderList): void {
  (response.req as CatalogueRequest).errcode = ERROR.errcode;
  const headers = ['X-Request-Id', id, ...HEADERS];
  // `flat` takes twenty times as long.
  for (const [name, value] of common) headers.push(name, value);
  response.writeHead(ERROR.status, headers);
  response.end(BODY);
}
