import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Server as NetServer } from 'node:net';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { ILayer } from 'express-serve-static-core';
import type { CatalogueRequest } from '../catalogue-request.js';
import { type Answer, refuse, send } from '../envelope.js';
import { type ApiError, busy, errors, noResourceAt } from '../errors.js';
import { type Observation, observationOf } from './observation.js';
import { receive } from './receive.js';
import { sendRows } from '../../list/serving/send-rows.js';
import { Admission } from './admission.js';
import { createEnvelopedServer, type EnvelopedServer } from './enveloped-server.js';

/** Milliseconds that an idle connection stays open while the service closes. */
const IDLE_GRACE = 500;
/** Milliseconds after which the service closes whatever is still open: longer than a query may run. */
const CLOSE_WITHIN = 15_000;

/**
 * Express for Nest, with the envelope also for unknown paths and methods, for requests beyond the
 * bound of those in work, and while closing.
 */
export class EnvelopedExpressAdapter extends ExpressAdapter {
  /** Is told of every request when it is over. */
  observe: (observation: Observation) => void = () => undefined;
  /** Answers what is not for the clients of the catalogue; false leaves a request to its routes. */
  operators: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Adds routes for what is no resource, without credentials; they stand behind all others. */
  publish: (express: Express) => void = () => undefined;
  private closing = false;
  private readonly admission: Admission;
  private http: EnvelopedServer | undefined;

  /**
   * @param maximum requests in work; one more is refused at once
   * @param maxConnections open connections; one more is closed at once
   */
  constructor(
    maximum: number,
    private readonly maxConnections: number,
  ) {
    super(expressApplication());
    this.admission = new Admission(maximum);
  }

  /** Requests in work: those whose response has not been handed to its connection yet. */
  get requestsInWork(): number {
    return this.admission.size;
  }

  /** Bytes of responses that their readers have not taken yet. */
  get undeliveredBytes(): number {
    return this.http?.deliveries.bytes ?? 0;
  }

  override initHttpServer(): void {
    const express = this.getInstance<Express>();
    this.http = createEnvelopedServer(
      {
        answer: (request, response, refusal) => {
          if (this.operators(request, response)) return;
          const refused = this.admit(request as CatalogueRequest, response) ?? refusal;
          if (refused) refuse(response, refused);
          else express(request as Request, response as Response, lastResort(response));
        },
        observe: (observation) => {
          this.observe(observation);
        },
      },
      this.maxConnections,
    );
    this.httpServer = this.http.server;
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
    for (const response of this.http?.connections.responses ?? []) {
      if (!response.headersSent) response.setHeader('Connection', 'close');
    }
    const started = performance.now();
    const sweep = setInterval(() => {
      const passed = performance.now() - started;
      if (passed > IDLE_GRACE) server.closeIdleConnections();
      // With no request in work, whatever is left never became one.
      const isDone = passed > IDLE_GRACE && this.http?.connections.responses.length === 0;
      if (isDone || passed > CLOSE_WITHIN) server.closeAllConnections();
    }, 20);
    // Not that of http.Server, which cuts idle connections off at once.
    await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
    clearInterval(sweep);
  }

  /** Takes a request in, or says why it is refused before any route is looked for. */
  private admit(request: CatalogueRequest, response: ServerResponse): ApiError | undefined {
    const isAdmitted = this.admission.enter(response);
    const began = performance.now();
    response.once('close', () => {
      this.observe(observationOf(request, response, began));
    });
    const refusal = receive(request, response);
    // What comes on a connection that has not heard of the end yet is answered like any other.
    if (this.closing) response.setHeader('Connection', 'close');
    return refusal ?? (isAdmitted ? undefined : busy());
  }

  private routeRefusal(request: CatalogueRequest): ApiError {
    const [path = ''] = request.url.split('?', 1);
    // The types know nothing of `match`, by which the router itself finds its way.
    const layers = this.getInstance<Express>().router.stack as (Layer & ILayer)[];
    const methods = new Set(
      layers
        .filter((layer) => layer.route && layer.match(path))
        .flatMap((layer) => layer.route?.stack.map(({ method }) => method.toUpperCase()) ?? []),
    );
    if (methods.size === 0) return noResourceAt(path);
    if (methods.has('GET')) methods.add('HEAD');
    return errors
      .methodNotAllowed(request.method)
      .withHeaders({ Allow: [...methods].sort().join(', ') });
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
