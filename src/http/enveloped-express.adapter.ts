import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, { type Express, type NextFunction, type Request, type Response } from 'express';
import type { ILayer } from 'express-serve-static-core';
import type { CatalogueRequest } from './catalogue-request.js';
import { failure, JSON_TYPE, send } from './envelope.js';
import { type ApiError, errors } from './errors.js';
import { receive } from './receive.js';

/** Bytes of a request line and its headers together that Node's parser accepts. */
const MAX_HEADER_SIZE = 32_768;

/**
 * Express for Nest, with the envelope also where neither of them gets to speak: on what Node's
 * parser refuses, on `Expect` and `CONNECT`, on unknown paths and methods, and while closing.
 */
export class EnvelopedExpressAdapter extends ExpressAdapter {
  private closing = false;
  private readonly responses = new WeakMap<Duplex, ServerResponse>();

  constructor() {
    super(expressApplication());
    this.use(receive);
    this.use((_request: Request, _response: Response, next: NextFunction) => {
      next(this.closing ? busy() : undefined);
    });
  }

  override initHttpServer(): void {
    // Node's own answer to a missing Host has no body: `receive` gives it one.
    const options = { maxHeaderSize: MAX_HEADER_SIZE, requireHostHeader: false };
    const server = createServer(options, this.getInstance<Express>());
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      this.responses.set(request.socket, response);
    });
    server.on('clientError', (error: NodeJS.ErrnoException, socket: Duplex) => {
      this.refuse(socket, parserRefusal(error));
    });
    server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
      const error = errors.malformed();
      send(response, error.status, failure(error));
    });
    server.on('connect', (_request: IncomingMessage, socket: Duplex) => {
      this.refuse(socket, errors.methodNotAllowed('CONNECT').withHeaders({ Allow: 'GET, HEAD' }));
    });
    this.httpServer = server;
  }

  /** Nest's last word on a request that no route took: by now only the path or the method is wrong. */
  override setNotFoundHandler(): void {
    this.use((request: CatalogueRequest, _response: Response, next: NextFunction) => {
      next(this.routeRefusal(request));
    });
  }

  /** Writes what the interceptor made of a handler's answer. */
  override reply(response: Response, body: string, status?: number): void {
    send(response, status ?? response.statusCode, body);
  }

  /** Stops listening; resolves when every request in work is answered. */
  override async close(): Promise<void> {
    this.closing = true;
    const server = this.httpServer as Server;
    if (!server.listening) return;
    // A connection kept alive is idle only once its response is out, so it is looked for again.
    const idle = setInterval(() => {
      server.closeIdleConnections();
    }, 20);
    await new Promise((resolve) => server.close(resolve));
    clearInterval(idle);
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

  /** Writes an envelope to a connection that has no response of its own, after those it still owes. */
  private refuse(socket: Duplex, error: ApiError): void {
    const pending = this.responses.get(socket);
    if (pending && !pending.writableFinished && !pending.destroyed) {
      pending.once('finish', () => {
        this.refuse(socket, error);
      });
      return;
    }
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const body = failure(error);
    const headers = Object.entries({
      'Content-Type': JSON_TYPE,
      'Content-Length': String(Buffer.byteLength(body)),
      'Cache-Control': 'private, no-cache',
      Connection: 'close',
      ...error.headers,
    });
    const head = [
      `HTTP/1.1 ${error.status} ${REASONS[error.status] ?? 'Error'}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  }
}

interface Layer {
  match(path: string): unknown;
}

const REASONS: Record<number, string> = {
  400: 'Bad Request',
  405: 'Method Not Allowed',
  431: 'Request Header Fields Too Large',
};

function expressApplication(): Express {
  const application = express();
  // Read when the router is made, hence before Nest registers anything.
  application.enable('case sensitive routing');
  application.enable('strict routing');
  application.disable('x-powered-by');
  application.disable('etag');
  return application;
}

function busy(): ApiError {
  return errors.busy().withHeaders({ 'Retry-After': '1', Connection: 'close' });
}

/** What Node's parser found wrong, https://nodejs.org/api/http.html#event-clienterror */
function parserRefusal({ code }: NodeJS.ErrnoException): ApiError {
  const oversized = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  return oversized ? errors.tooLarge().withStatus(431) : errors.malformed();
}
