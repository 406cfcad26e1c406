import { randomUUID } from 'node:crypto';
import {
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import { Server as NetServer } from 'node:net';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { ILayer } from 'express-serve-static-core';
import type { CatalogueRequest } from './catalogue-request.js';
import { type Answer, failure, JSON_TYPE, refuse, send } from './envelope.js';
import { type ApiError, busy, errors } from './errors.js';
import { type Observation, observationOf } from './observation.js';
import { receive, unparsedHeaders } from './receive.js';
import { sendRows } from './send-rows.js';

/** Bytes of a request line and its headers together that Node's parser accepts. */
const MAX_HEADER_SIZE = 32_768;
/** Milliseconds: for the head of a request, for all of it, between two requests, between two looks at that. */
const TIMEOUTS = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  // Longer than a proxy keeps one, or it would send a request on a connection that is being closed.
  keepAliveTimeout: 75_000,
  connectionsCheckingInterval: 1000,
};
/** Milliseconds that an idle connection stays open while the service closes. */
const IDLE_GRACE = 500;
/** Milliseconds after which the service closes whatever is still open: longer than a query may run. */
const CLOSE_WITHIN = 15_000;

/**
 * Express for Nest, with the envelope also where neither of them gets to speak: on what Node's
 * parser refuses, on `Expect` and `CONNECT`, on unknown paths and methods, and while closing.
 */
export class EnvelopedExpressAdapter extends ExpressAdapter {
  /** Is told of every request when it is over. */
  observe: (observation: Observation) => void = () => undefined;
  /** Answers what is not for the clients of the catalogue; false leaves a request to its routes. */
  operators: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Adds routes for what is no resource, without credentials; they stand behind all others. */
  publish: (express: Express) => void = () => undefined;
  private closing = false;
  /** What is not answered yet. */
  private readonly pending = new Set<ServerResponse>();
  private readonly latest = new WeakMap<Duplex, ServerResponse>();

  /** @param most requests in work; one more is refused at once */
  constructor(private readonly most: number) {
    super(expressApplication());
  }

  override initHttpServer(): void {
    // Node's own answer to a missing Host has no body: `receive` gives it one.
    const express = this.getInstance<Express>();
    const options = { ...TIMEOUTS, maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false };
    const server = createServer(options, (request, response) => {
      if (this.operators(request, response)) return;
      const refusal = this.admit(request as CatalogueRequest, response);
      if (refusal) refuse(response, refusal);
      else express(request as Request, response as Response, lastResort(response));
    });
    // Their size is bounded; beyond a count Node would leave some out without a word.
    server.maxHeadersCount = 0;
    server.on('checkExpectation', (request: CatalogueRequest, response: ServerResponse) => {
      refuse(response, this.admit(request, response) ?? errors.malformed());
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      this.refuseUnparsed(socket, parserRefusal(error));
    });
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      const error = errors.methodNotAllowed('CONNECT').withHeaders({ Allow: 'GET, HEAD, OPTIONS' });
      this.refuseUnparsed(socket, error);
    });
    this.httpServer = server;
  }

  /** A path that answers `GET` answers `OPTIONS` too, by the same guards: see the interceptor. */
  override get(path: unknown, ...handlers: unknown[]): void {
    // One route for both, so that finding another one costs no more.
    const route = this.getInstance<Express>().route(path as string);
    route.get(...(handlers as RequestHandler[])).options(...(handlers as RequestHandler[]));
  }

  /** Nest's last word on a request that no route took: by now only the path or the method is wrong. */
  override setNotFoundHandler(): void {
    this.publish(this.getInstance<Express>());
    this.use((request: CatalogueRequest, _response: Response, next: NextFunction) => {
      next(this.routeRefusal(request));
    });
  }

  /** Writes what the interceptor made of a handler's answer. */
  override reply(response: Response, answer: Answer): Promise<void> | undefined {
    const { status, body, list, encoding } = answer;
    if (encoding) response.setHeader('Content-Encoding', encoding);
    if (list) return sendRows(response.req as CatalogueRequest, response, list, encoding);
    if (body !== undefined) {
      send(response, status, body);
    } else {
      response.statusCode = status;
      response.end();
    }
    return undefined;
  }

  /**
   * Stops listening; resolves when every request in work is answered. A connection is closed after
   * its answer, which says so; one that is idle is given the time to hear of it.
   */
  override async close(): Promise<void> {
    this.closing = true;
    const server = this.httpServer as Server;
    if (!server.listening) return;
    for (const response of this.pending) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    const started = performance.now();
    const sweep = setInterval(() => {
      const passed = performance.now() - started;
      if (passed > IDLE_GRACE) server.closeIdleConnections();
      // With no request in work, whatever is left never became one.
      const isDone = passed > IDLE_GRACE && this.pending.size === 0;
      if (isDone || passed > CLOSE_WITHIN) server.closeAllConnections();
    }, 20);
    // Not that of http.Server, which cuts idle connections off at once.
    await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    clearInterval(sweep);
  }

  /** Takes a request in, or says why it is refused before any route is looked for. */
  private admit(request: CatalogueRequest, response: ServerResponse): ApiError | undefined {
    this.latest.set(request.socket, response);
    this.pending.add(response);
    response.once('close', () => this.pending.delete(response));
    const began = performance.now();
    response.once('close', () => {
      this.observe(observationOf(request, response, began));
    });
    const refusal = receive(request, response);
    // What comes on a connection that has not heard of the end yet is answered like any other.
    if (this.closing) response.setHeader('Connection', 'close');
    if (refusal ?? this.pending.size <= this.most) return refusal;
    return busy();
  }

  private routeRefusal(request: CatalogueRequest): ApiError {
    const path = request.url.split('?', 1)[0] ?? '';
    // The types know nothing of `match`, by which the router itself finds its way.
    const layers = this.getInstance<Express>().router.stack as (Layer & ILayer)[];
    const methods = new Set(
      layers
        .filter((layer) => layer.route && layer.match(path))
        .flatMap((layer) => layer.route?.stack.map(({ method }) => method.toUpperCase()) ?? []),
    );
    if (methods.size === 0) return errors.pathUnknown(path);
    if (methods.has('GET')) methods.add('HEAD');
    return errors
      .methodNotAllowed(request.method)
      .withHeaders({ Allow: [...methods].sort().join(', ') });
  }

  /** Writes an envelope to a connection for what is no request, after the answers it still owes. */
  private refuseUnparsed(socket: Duplex, error: ApiError): void {
    const latest = this.latest.get(socket);
    if (latest && !latest.writableFinished && !latest.destroyed) {
      latest.once('finish', () => {
        this.refuseUnparsed(socket, error);
      });
      return;
    }
    // In the body of a request that has its answer: a second one would be taken for the next's.
    if (!socket.writable || latest?.req.complete === false) {
      socket.destroy();
      return;
    }
    const id = randomUUID();
    this.observe({ id, status: error.status, errcode: error.errcode, milliseconds: 0, rows: 0 });
    const body = failure(error);
    const headers = Object.entries({
      ...unparsedHeaders(id),
      'Content-Type': JSON_TYPE,
      'Content-Length': String(Buffer.byteLength(body)),
      Connection: 'close',
      ...error.headers,
    });
    const head = [
      `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
}

interface Layer {
  match(path: string): unknown;
}

/** What answers where an error escapes Express itself, which would answer in HTML. */
function lastResort(response: ServerResponse): NextFunction {
  return () => {
    refuse(response, errors.internal());
  };
}

function expressApplication(): Express {
  const application = express();
  // Read when the router is made, hence before Nest registers anything.
  application.enable('case sensitive routing');
  application.enable('strict routing');
  application.disable('x-powered-by');
  application.disable('etag');
  return application;
}

/** What Node's parser found wrong, https://nodejs.org/api/http.html#event-clienterror */
function parserRefusal({ code }: NodeJS.ErrnoException): ApiError {
  const oversized = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  return oversized ? errors.tooLarge().withStatus(431) : errors.malformed();
}
