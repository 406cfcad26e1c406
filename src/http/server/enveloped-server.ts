import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { type ApiError, errors } from '../errors.js';
import type { Observation } from './observation.js';
import { Connections } from './connections.js';
import { Deliveries } from './deliveries.js';
import { onEnd } from './on-end.js';
import { parserRefusal, refuseUnparsed } from './unparsed.js';

/** Bytes of a request line and its headers together that Node's parser accepts. */
const MAX_HEADER_SIZE = 32_768;
/** Milliseconds: for the head of a request, for all of it, between two requests, between two checks of those. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than a proxy keeps one, or it would send a request on a connection that is being closed.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
};

export interface ServerHandlers {
  /**
   * Answers a request.
   *
   * @param refusal what it must be refused with, if nothing else is wrong with it
   */
  answer(request: IncomingMessage, response: ServerResponse, refusal?: ApiError): void;
  /** Is told of what was refused because it is no request. */
  observe?(observation: Observation): void;
}

/** An HTTP server and what its connections still owe. */
export interface EnvelopedServer {
  readonly server: Server;
  readonly connections: Connections;
  readonly deliveries: Deliveries;
}

/**
 * An HTTP server, not listening yet, that answers with the envelope also where Node would answer by
 * itself: what its parser refuses, `Expect` and `CONNECT`. Readers that stall lose their connection.
 *
 * @param maxConnections open connections; one more is closed at once
 */
export function createEnvelopedServer(
  handlers: ServerHandlers,
  maxConnections: number,
): EnvelopedServer {
  const observe = (observation: Observation): void => handlers.observe?.(observation);
  const connections = new Connections();
  const deliveries = new Deliveries();
  const take = (request: IncomingMessage, response: ServerResponse, refusal?: ApiError): void => {
    // Each part that follows a response listens to its end, and a pipeline several times.
    response.setMaxListeners(30);
    connections.add(response);
    onEnd(response, () => {
      // A client that is gone takes nothing any more.
      if (!response.destroyed) deliveries.add(response);
    });
    response.once('close', () => {
      deliveries.delete(response);
    });
    handlers.answer(request, response, refusal);
  };
  // Node's own answer to a missing Host has no body: `receive` refuses it.
  const options = { ...TIMEOUTS, maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false };
  const server = createServer(options, (request, response) => {
    take(request, response);
  });
  server.maxConnections = maxConnections;
  // The size of headers is bounded; beyond a count Node would silently leave some out.
  server.maxHeadersCount = 0;
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    take(request, response, errors.malformed());
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
    const refusal = parserRefusal(error, socket);
    if (refusal) refuseUnparsed(socket, refusal, connections, observe);
    else socket.destroy();
  });
  server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
    // Node has removed its own listeners and reads no more. An error without a listener ends the
    // process, and a response that waits for the connection to drain would wait for ever.
    socket.on('error', () => socket.destroy());
    socket.on('drain', () => connections.frontOf(socket)?.emit('drain'));
    socket.resume();
    const error = errors.methodNotAllowed('CONNECT').withHeaders({ Allow: 'GET, HEAD, OPTIONS' });
    refuseUnparsed(socket, error, connections, observe);
  });
  return { server, connections, deliveries };
}
