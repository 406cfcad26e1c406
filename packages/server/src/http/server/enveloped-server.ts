import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { setImmediate as pass } from 'node:timers/promises';
import {
  allowHalfOpen,
  closeListener,
  type MessageClasses,
  replaceClose,
} from '../../private-api/server.js';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import { ALLOWED_METHODS, type ApiError, errors } from '../errors.js';
import type { Observation } from '../observation.js';
import { onEnd } from './admission.js';
import { Connections } from './connections.js';
import { Deliveries } from './deliveries.js';
import { COMMON_HEADERS, type HeaderList } from './headers.js';

/** Options of Node's server. Sizes are in bytes, timeouts in milliseconds. */
const OPTIONS: ServerOptions = {
  headersTimeout: 10_000,
  // Longer than proxies keep a connection: otherwise a proxy can send a request on a connection
  // that is being closed.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
  // Of a request line and its headers together.
  maxHeaderSize: 32_768,
  // Node's own response to a missing Host has no body, so `receive` checks it instead.
  requireHostHeader: false,
};

/** Milliseconds that a client has to read the last response before its connection is destroyed. */
const LINGER = 1000;
/** Minimum milliseconds that an idle connection stays open while the server closes. */
const IDLE_GRACE = 500;
/** Milliseconds after which every connection is closed; longer than the default query timeout. */
const DEADLINE = 15_000;
/** Milliseconds between two checks of the connections. */
const PERIOD = 20;
/** Maximum milliseconds for which the server accepts the connections that wait, and those that come after them. */
const ACCEPT_TIME = 3000;

interface ServerHandlers {
  /**
   * Answers a request.
   *
   * @param knownError the error response, if it is known before the head is processed
   */
  answer(request: IncomingMessage, response: ServerResponse, knownError?: ApiError): void;
  /** The headers of responses to input that is not a valid request; default: `COMMON_HEADERS`. */
  readonly unparsedHeaders?: HeaderList;
  /** Called after an error response to input that is not a valid request. */
  readonly observe?: (observation: Observation) => void;
}

/**
 * An HTTP server that is not listening yet, with its pending and unread responses. It also responds with an
 * envelope where Node would respond by itself: to parser errors, `Expect` and `CONNECT`. It closes the connection
 * of a reader that is too slow; see `Deliveries`. A request has no body: one that has gets the error response
 * of a malformed request, and its connection is closed.
 */
export class EnvelopedServer {
  readonly server: Server;
  readonly connections = new Connections();
  readonly deliveries = new Deliveries();

  /**
   * @param maxConnections open connections; any further connection is closed at once
   * @param classes default: those of Node
   */
  constructor(
    private readonly handlers: ServerHandlers,
    maxConnections: number,
    classes: MessageClasses = {},
  ) {
    const handle = (request: IncomingMessage, response: ServerResponse): void => {
      this.handle(request, response);
    };
    this.server = createServer({ ...OPTIONS, ...classes }, handle)
      // Without a body there is nothing to continue with.
      .on('checkContinue', handle)
      .on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
        this.handle(request, response, errors.malformed());
      })
      .on('clientError', (cause: NodeJS.ErrnoException, socket: Duplex) => {
        const error = parserError(cause, socket);
        if (error) this.refuse(socket, error);
        else socket.destroy();
      })
      .on('connect', (request: IncomingMessage, socket: Duplex) => {
        // Node has removed its listeners and stopped reading. Without these listeners, an error would
        // end the process, and a response that waits for `drain` would wait forever.
        socket.on('error', () => socket.destroy());
        socket.on('drain', () => this.connections.frontOf(socket)?.emit('drain'));
        socket.resume();
        const allowed = { Allow: ALLOWED_METHODS };
        const notAllowed = errors.methodNotAllowed('CONNECT').withHeaders(allowed);
        this.refuse(socket, hasBody(request) ? errors.malformed() : notAllowed);
      });
    this.server.maxConnections = maxConnections;
    allowHalfOpen(this.server);
    // No maximum: beyond it Node silently drops headers. Their size is limited anyway.
    this.server.maxHeadersCount = 0;
  }

  /** Tracks the response to a request, and passes both on. */
  private handle(request: IncomingMessage, response: ServerResponse, error?: ApiError): void {
    const { socket } = request;
    const { connections, deliveries } = this;
    if (connections.ending.has(socket)) {
      socket.pause();
      return;
    }
    // Several parts of the service listen to `close`, and a stream pipeline adds more listeners.
    response.setMaxListeners(30);
    connections.add(response);
    onEnd(response, () => {
      // Nobody reads a destroyed response.
      if (!response.destroyed) deliveries.add(response);
    });
    response.once('close', () => {
      deliveries.delete(response);
    });
    if (!hasBody(request)) {
      this.handlers.answer(request, response, error);
      return;
    }
    connections.ending.add(socket);
    response.setHeader('Connection', 'close');
    replaceClose(socket, () => {
      endAndLinger(socket);
    });
    this.handlers.answer(request, response, errors.malformed());
  }

  /** Answers input that is not a valid request after the pending responses of its connection, which it then closes. */
  private refuse(socket: Duplex, error: ApiError): void {
    const { connections } = this;
    const { observe, unparsedHeaders = COMMON_HEADERS } = this.handlers;
    if (connections.ending.has(socket)) return;
    connections.ending.add(socket);
    const sendLast = (): void => {
      if (!socket.writable) {
        socket.destroy();
        return;
      }
      const id = randomUUID();
      observe?.({ id, status: error.status, errcode: error.errcode, milliseconds: 0, rows: 0 });
      const date = new Date().toUTCString();
      const headers: HeaderList = [['Date', date], ['X-Request-Id', id], ...unparsedHeaders];
      endAndLinger(socket, unparsedResponse(error, headers));
    };
    const latest = connections.latestOf(socket);
    if (!latest || latest.writableFinished || latest.destroyed) sendLast();
    else latest.once('finish', sendLast);
  }

  /**
   * Stops listening. Resolves when every request in work is answered and every connection is closed,
   * after 15 seconds at most. The last response of a connection says `Connection: close`. An idle connection stays open for
   * half a second or longer, so that a request that is already under way is still answered.
   */
  async close(): Promise<void> {
    const { server, connections } = this;
    if (!server.listening) return;
    const deadline = performance.now() + DEADLINE;
    connections.close();
    await acceptWaiting(server);
    const idleUntil = performance.now() + IDLE_GRACE;
    const sweep = setInterval(() => {
      const now = performance.now();
      // With no response left, a connection that is still open never sent a whole request.
      const isDone = now > idleUntil && connections.responses.length === 0;
      if (isDone || now > deadline) server.closeAllConnections();
    }, PERIOD);
    await closeListener(server);
    clearInterval(sweep);
  }
}

/** Whether a request announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return length !== '0' || coding !== undefined;
}

/**
 * The error response to an error of Node's parser
 * (https://nodejs.org/api/http.html#event-clienterror); `undefined` if the client sent nothing.
 */
function parserError({ code }: NodeJS.ErrnoException, socket: Duplex): ApiError | undefined {
  const isSilent = code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
  if (isSilent) return undefined;
  const isOversized = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  return isOversized ? errors.tooLarge().withStatus(431) : errors.malformed();
}

/** The error response as text, with `Connection: close`. */
export function unparsedResponse(error: ApiError, commonHeaders: HeaderList): string {
  const body = errorEnvelope(error);
  const headers: HeaderList = [
    ...commonHeaders,
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
    ...Object.entries(error.headers),
  ];
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

/**
 * Ends a connection, after a last text if there is one. Destroys it when its client has had time to read: to
 * destroy it while the client sends would reset it, and the client could lose the response
 * (RFC 9112, section 9.6).
 */
function endAndLinger(socket: Duplex, text?: string): void {
  socket.end(text);
  // Not a timeout of the socket, which a client that keeps sending would put off for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}

/**
 * Lets the server accept the connections that wait in its backlog, which the system would reset when it
 * stops listening. A pass of the event loop accepts one, so that an overloaded server has many of them.
 * Ends with the first pass that found none. Node has no public function that closes the backlog to others, so that
 * an overloaded server still resets those that wait when its time is over. A proxy sends their requests to another.
 */
async function acceptWaiting(server: Server): Promise<void> {
  let accepted = true;
  const accept = (): void => {
    accepted = true;
  };
  server.on('connection', accept);
  for (const until = performance.now() + ACCEPT_TIME; accepted && performance.now() < until;) {
    accepted = false;
    // The first ends in the present pass, the second after the next poll.
    await pass();
    await pass();
  }
  server.off('connection', accept);
}
