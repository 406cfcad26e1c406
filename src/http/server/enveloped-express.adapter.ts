import type { IncomingMessage, ServerResponse } from 'node:http';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import type { CatalogueRequest } from '../catalogue-request.js';
import { type Answer, send, sendError } from '../envelope.js';
import { type ApiError, busy, errors } from '../errors.js';
import { Admission } from './admission.js';
import { closeGracefully } from './closing.js';
import { createEnvelopedServer, type EnvelopedServer } from './enveloped-server.js';
import { type Observation, observationOf } from './observation.js';
import { receive } from './receive.js';
import { unmatchedRoute } from './unmatched-route.js';

/** Connects Nest to Express behind an `EnvelopedServer`, so that every response is an envelope. */
export class EnvelopedExpressAdapter extends ExpressAdapter {
  /** Called for every request when it is over. */
  observe: (observation: Observation) => void = () => undefined;
  /** Answers the requests of operators. Returns false for any other request. */
  operators: (request: IncomingMessage, response: ServerResponse) => boolean = () => false;
  /** Adds routes that need no credentials. They stand behind all others. */
  publish: (express: Express) => void = () => undefined;
  private closing = false;
  private readonly admission: Admission;
  private http: EnvelopedServer | undefined;

  /**
   * @param maximum requests in work; one more gets `-4`
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
        answer: (request, response, error) => {
          if (this.operators(request, response)) return;
          const refused = this.admit(request as CatalogueRequest, response) ?? error;
          if (refused) sendError(response, refused);
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

  /** Registers `OPTIONS` with every `GET`, behind the same guards: see `OptionsInterceptor`. */
  override get(path: unknown, ...handlers: unknown[]): void {
    // A single route, so that the router does not search twice.
    const route = this.getInstance<Express>().route(path as string);
    route.get(...(handlers as RequestHandler[])).options(...(handlers as RequestHandler[]));
  }

  /** Nest calls this after the last route: a request that comes here has a wrong path or method. */
  override setNotFoundHandler(): void {
    const express = this.getInstance<Express>();
    this.publish(express);
    this.use((request: CatalogueRequest, _response: Response, next: NextFunction) => {
      next(unmatchedRoute(express, request));
    });
  }

  /** Writes the answer that the interceptors made of a handler's result. */
  override reply(
    response: Response,
    { status, body, encoding, write }: Answer,
  ): Promise<void> | undefined {
    if (encoding) response.setHeader('Content-Encoding', encoding);
    if (write) return write();
    if (body !== undefined) {
      send(response, status, body);
    } else {
      response.statusCode = status;
      response.end();
    }
    return undefined;
  }

  override async close(): Promise<void> {
    this.closing = true;
    if (this.http) await closeGracefully(this.http);
  }

  /** Counts a request and parses its head. Returns the error where it is not to be routed. */
  private admit(request: CatalogueRequest, response: ServerResponse): ApiError | undefined {
    const isAdmitted = this.admission.enter(response);
    const began = performance.now();
    response.once('close', () => {
      this.observe(observationOf(request, response, began));
    });
    const error = receive(request, response);
    // A connection that stays open during the shutdown is told to close with its next answer.
    if (this.closing) response.setHeader('Connection', 'close');
    return error ?? (isAdmitted ? undefined : busy());
  }
}

/** Answers where an error escapes Express, which would answer in HTML. */
function lastResort(response: ServerResponse): NextFunction {
  return () => {
    sendError(response, errors.internal());
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
