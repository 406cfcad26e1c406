import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { allowHalfOpen, type MessageClasses, replaceClose } from '../../private-api/server.js';
import { ALLOWED_METHODS, type ApiError, errors } from '../errors.js';
import type { Observation } from '../observation.js';
import { onEnd } from './admission.js';
import { COMMON_HEADERS, type HeaderList } from './common-headers.js';
import { Connections } from './connections.js';
import { Deliveries } from './deliveries.js';
import { endAndLinger, parserError, unparsedResponse } from './unparsed.js';

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
}

/** Whether a request announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return length !== '0' || coding !== undefined;
}
