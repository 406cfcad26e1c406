import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerOptions,
  type ServerResponse,
} from 'node:http';
import type { Duplex } from 'node:stream';
import { ALLOWED_METHODS, type ApiError, errors } from '../errors.js';
import type { Observation } from '../observation.js';
import { onEnd } from './admission.js';
import { COMMON_HEADERS, type HeaderList } from './common-headers.js';
import { Connections } from './connections.js';
import { Deliveries } from './deliveries.js';
import { endAndLinger, parserError, sendUnparsedError } from './unparsed.js';

/** Maximum bytes of a request line and its headers together. */
const MAX_HEADER_SIZE = 32_768;
/** Timeouts of Node's `http.Server`, in milliseconds. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  // Longer than proxies keep a connection: otherwise a proxy can send a request on a connection
  // that is being closed.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
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
  observe?(observation: Observation): void;
}

/** The classes of requests and responses. */
export type MessageClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

/** An HTTP server with its pending and unread responses. */
export interface EnvelopedServer {
  readonly server: Server;
  readonly connections: Connections;
  readonly deliveries: Deliveries;
}

/**
 * Creates an HTTP server that is not listening yet. It also responds with an envelope where Node
 * would respond by itself: to parser errors, `Expect` and `CONNECT`. It closes the connection of a
 * reader that is too slow; see `Deliveries`. A request has no body: one that has gets the error response
 * of a malformed request, and its connection is closed.
 *
 * @param maxConnections open connections; any further connection is closed at once
 * @param classes default: those of Node
 */
export function createEnvelopedServer(
  handlers: ServerHandlers,
  maxConnections: number,
  classes: MessageClasses = {},
): EnvelopedServer {
  const { unparsedHeaders = COMMON_HEADERS } = handlers;
  const observe = (observation: Observation): void => handlers.observe?.(observation);
  const connections = new Connections();
  const deliveries = new Deliveries();
  const handle = handlerOf(handlers, connections, deliveries);
  // Node's own response to a missing Host has no body, so `receive` checks it instead.
  const options = {
    ...TIMEOUTS,
    ...classes,
    maxHeaderSize: MAX_HEADER_SIZE,
    requireHostHeader: false,
  };
  const server = createServer(options, (request, response) => {
    handle(request, response);
  });
  server.maxConnections = maxConnections;
  // The types lack it. Without it, Node closes a connection when its client ends its direction, and pending
  // responses are lost. With it, a client that is gone without a reset is noticed when a response is written.
  Object.assign(server, { httpAllowHalfOpen: true });
  // No maximum: beyond it Node silently drops headers. Their size is limited anyway.
  server.maxHeadersCount = 0;
  // Without a body there is nothing to continue with.
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response);
  });
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response, errors.malformed());
  });
  server.on('clientError', (cause: NodeJS.ErrnoException, socket: Duplex) => {
    const error = parserError(cause, socket);
    if (error) sendUnparsedError(socket, error, connections, unparsedHeaders, observe);
    else socket.destroy();
  });
  server.on('connect', (request: IncomingMessage, socket: Duplex) => {
    // Node has removed its listeners and stopped reading. Without these listeners, an error would
    // end the process, and a response that waits for `drain` would wait forever.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => connections.frontOf(socket)?.emit('drain'));
    socket.resume();
    const notAllowed = errors.methodNotAllowed('CONNECT').withHeaders({ Allow: ALLOWED_METHODS });
    const error = hasBody(request) ? errors.malformed() : notAllowed;
    sendUnparsedError(socket, error, connections, unparsedHeaders, observe);
  });
  return { server, connections, deliveries };
}

/** Whether a request announces a body. */
function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length = '0', 'transfer-encoding': coding } = headers;
  return length !== '0' || coding !== undefined;
}

/** Tracks the response to a request, and passes both on. */
function handlerOf(
  handlers: ServerHandlers,
  connections: Connections,
  deliveries: Deliveries,
): ServerHandlers['answer'] {
  return (request, response, error) => {
    const { socket } = request;
    if (connections.isEnding(socket)) {
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
      handlers.answer(request, response, error);
      return;
    }
    connections.setEnding(socket);
    response.setHeader('Connection', 'close');
    // Node calls it after this response.
    socket.destroySoon = () => {
      endAndLinger(socket);
    };
    handlers.answer(request, response, errors.malformed());
  };
}
