import type { IncomingMessage, ServerResponse } from 'node:http';
import { promisify } from 'node:util';
import { Logger, type Type } from '@nestjs/common';
import { ExpressAdapter } from '@nestjs/platform-express';
import express, {
  type Express,
  type NextFunction,
  type Request,
  type RequestHandler,
  type Response,
} from 'express';
import { CommandError } from '../../command-error.js';
import { messageClasses, methodsAt } from '../../private-api/server.js';
import { type CatalogueRequest, receive, requestId } from '../request.js';
import { type Answer, send, sendError } from '../envelope.js';
import { type ApiError, errors, noResourceAt } from '../errors.js';
import { type Observation, observationOf, type RequestTrace } from '../observation.js';
import { Admission, PUT_OFF, sendBusy } from './admission.js';
import { EnvelopedServer } from './enveloped-server.js';
import type { Cors } from './cors.js';
import { WaitingRequests } from './waiting-requests.js';

/** The share of the connections on which requests may wait. */
const WAITING_SHARE = 0.8;

/** Another path of a route. */
interface FurtherPath {
  readonly path: string;
  /** The class that declares its parameters. */
  readonly query: Type<object>;
}

/** What the application attaches to its server. Each is absent without it. */
export interface ServerHooks {
  /** Called when a request is complete. */
  readonly observe?: (observation: Observation) => void;
  /** Begins the trace of a request. */
  readonly beginTrace?: (request: CatalogueRequest) => RequestTrace;
  /** Milliseconds after which an observed request is slow. */
  readonly slowAfter?: number;
  /** Answers health and metrics requests. Returns false for any other request. */
  readonly handleOperatorRequest?: (
    request: IncomingMessage,
    response: ServerResponse,
    knownError?: ApiError,
  ) => boolean;
  /** Adds routes that need no credentials, after all other routes. */
  readonly addPublicRoutes?: (express: Express) => void;
  /** The other paths of Nest's routes, by the path that Nest gives. */
  readonly furtherPaths?: ReadonlyMap<string, FurtherPath>;
}

/** Connects Nest to Express behind an `EnvelopedServer`, so that every response is an envelope. */
export class EnvelopedExpressAdapter extends ExpressAdapter {
  /** Has the number of requests in work. */
  readonly admission: Admission;
  /** Those whose wait is over run again beside others, at most a fifth of the requests in work. */
  readonly waiting = new WaitingRequests(
    (running) =>
      running < this.admission.maximum / 5 && this.admission.size < this.admission.maximum,
    (request) => {
      // As if it had just come.
      if (this.admission.add(request.res)) this.route(request, request.res);
      else sendError(request.res, errors.busy());
    },
  );
  readonly http: EnvelopedServer;
  private hasAllRoutes = false;
  private hooks: ServerHooks = {};

  /**
   * @param poolSize connections to the database, which limit the requests in work: see `Admission`
   * @param maxConnections open connections; any further connection is closed at once
   */
  constructor(
    poolSize: number,
    readonly maxConnections: number,
    private readonly cors: Cors,
  ) {
    const express = expressApplication();
    super(express);
    this.admission = Admission.of(poolSize);
    this.http = new EnvelopedServer(
      {
        answer: (request, response, knownError) => {
          this.answer(request as CatalogueRequest, response as Response, knownError);
        },
        unparsedHeaders: cors.defaultHeaders,
        observe: (observation) => {
          this.hooks.observe?.(observation);
        },
      },
      maxConnections,
      messageClasses(express),
    );
  }

  /** Adds hooks to those that are attached, in place of earlier ones of the same name. */
  attach(hooks: ServerHooks): void {
    this.hooks = { ...this.hooks, ...hooks };
  }

  /** The number of open connections, those without a request included. */
  connectionCount(): Promise<number> {
    const { server } = this.http;
    return promisify(server.getConnections.bind(server))();
  }

  override initHttpServer(): void {
    this.httpServer = this.http.server;
  }

  /** Registers `OPTIONS` with every `GET`, behind the same guards: see `OptionsResponder`. */
  override get(path: unknown, ...handlers: unknown[]): void {
    this.addRoute(path as string, handlers as RequestHandler[]);
    const further = this.hooks.furtherPaths?.get(path as string);
    if (!further) return;
    const setQueryClass = (request: Request, _response: Response, next: NextFunction): void => {
      (request as CatalogueRequest).queryClass = further.query;
      next();
    };
    this.addRoute(further.path, [setQueryClass, ...(handlers as RequestHandler[])]);
  }

  /** Called by Nest after the last route. It handles a wrong path or method. */
  override setNotFoundHandler(): void {
    const express = this.getInstance<Express>();
    this.hooks.addPublicRoutes?.(express);
    this.use((request: CatalogueRequest, _response: Response, next: NextFunction) => {
      next(unmatchedRoute(express, request));
    });
  }

  /** Called by Nest last of all. */
  override setErrorHandler(...handler: Parameters<ExpressAdapter['setErrorHandler']>): void {
    super.setErrorHandler(...handler);
    this.hasAllRoutes = true;
  }

  /** @throws CommandError behind the last route, where no request comes */
  override use(...handlers: readonly unknown[]): void {
    if (this.hasAllRoutes)
      throw new CommandError('app.use comes too late: call it in the third argument of run');
    super.use(...handlers);
  }

  /** @throws CommandError always, since a preflight is answered before any middleware */
  override enableCors(): never {
    throw new CommandError('app.enableCors is refused: set CORS_ORIGINS');
  }

  /** @throws CommandError always */
  override useBodyParser(): never {
    throw new CommandError('app.useBodyParser is refused: a request has no body');
  }

  /** @throws CommandError always, since any request would get the files, before the guards */
  override useStaticAssets(): never {
    throw new CommandError(
      'app.useStaticAssets is refused: let a proxy serve files, which here would need no credentials',
    );
  }

  /** Writes the answer that the interceptors returned. */
  override reply(
    response: Response,
    { status, body, encoding, later, write }: Answer,
  ): Promise<void> | undefined {
    const request = response.req as CatalogueRequest;
    if (later) {
      if (this.waiting.size < this.maxConnections * WAITING_SHARE) {
        response.emit(PUT_OFF);
        void this.waiting.wait(request, later);
      } else sendError(response, errors.busy());
      return undefined;
    }
    request.answeredAt = performance.now();
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

  override close(): Promise<void> {
    return this.http.close();
  }

  private addRoute(path: string, handlers: readonly RequestHandler[]): void {
    // One route for both methods: a second one would cost another search of the router.
    this.getInstance<Express>()
      .route(path)
      .get(...handlers)
      .options(...handlers);
  }

  private answer(request: CatalogueRequest, response: Response, knownError?: ApiError): void {
    if (this.hooks.handleOperatorRequest?.(request, response, knownError)) return;
    const id = this.begin(request, response);
    const isAdmitted = knownError !== undefined || this.admission.add(response);
    const headers = this.cors.headersFor(request);
    // Before anything else is done for it. A page cannot read the error response to a preflight,
    // but it can read that to its request.
    if (!isAdmitted && request.method !== 'OPTIONS') {
      sendBusy(response, id, headers);
      return;
    }
    const headError = receive(request, response, headers, id);
    if (!knownError && this.cors.answerPreflight(request, response)) return;
    const refused = knownError ?? headError ?? (isAdmitted ? undefined : errors.busy());
    if (refused) {
      sendError(response, refused);
      return;
    }
    this.route(request, response);
  }

  private route(request: CatalogueRequest, response: Response): void {
    // An error that escapes Express, which its own handler answers with HTML.
    this.getInstance<Express>()(request, response, () => {
      sendError(response, errors.internal());
    });
  }

  /** Gives a request its id, which it returns, and reports the request when it is complete. */
  private begin(request: CatalogueRequest, response: ServerResponse): string {
    const began = performance.now();
    request.id = requestId(request);
    request.trace = this.hooks.beginTrace?.(request);
    request.trace?.enter('admission');
    response.once('close', () => {
      try {
        const observation = observationOf(request, response, began, this.hooks.slowAfter);
        this.hooks.observe?.(observation);
        request.trace?.end(observation);
      } catch (error) {
        // Nobody else would catch it: the process would end.
        new Logger(EnvelopedExpressAdapter.name).error(error);
      }
    });
    return request.id;
  }
}

function expressApplication(): Express {
  const application = express();
  // Express reads these when it creates the router, so they are set before Nest adds routes.
  application.enable('case sensitive routing');
  application.enable('strict routing');
  application.disable('x-powered-by');
  application.disable('etag');
  return application;
}

/** The error for a request that matches no route: `-30` for an unknown path, otherwise `-32` with `Allow`. */
function unmatchedRoute(express: Express, request: CatalogueRequest): ApiError {
  const [path = ''] = request.url.split('?', 1);
  const methods = methodsAt(express, path);
  if (methods.size === 0) return noResourceAt(path);
  if (methods.has('GET')) methods.add('HEAD');
  return errors
    .methodNotAllowed(request.method)
    .withHeaders({ Allow: [...methods].sort().join(', ') });
}
