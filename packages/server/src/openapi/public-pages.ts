import type { INestApplicationContext } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { LRUCache } from 'lru-cache';
import { readdirSync, readFileSync } from 'node:fs';
import { hash } from 'node:crypto';
import type { CatalogueRequest } from '../http/request.js';
import { JSON_TYPE } from '../http/envelope.js';
import { noResourceAt } from '../http/errors.js';
import { compress, type Encoding, encodingOf } from '../http/negotiation.js';
import { isCredential, settingsFor } from '../http/parameters/declared-parameters.js';
import { rightsOf, type ScopeClient } from '../resource/visibility.js';
import type { Settings } from '../settings/settings.js';
import { endpointsFor, openapiDocument, overview } from './document.js';
import { llmsFullText, llmsText } from './llms.js';
import { ACCESSIBILITY, type Credentials, HTML, ICON, POLICY, script, STYLE } from './page.js';

const TEXT_TYPE = 'text/plain; charset=utf-8';
const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
/** The modules of Scalar, which the build copies. They import each other by relative paths. */
const SCALAR = new URL('../../dist/@scalar/api-reference/dist/browser/', import.meta.url);

/** Most API documents and texts in memory: three for each set of rights of clients. One has up to 200 kB. */
const MAXIMUM_DOCUMENTS = 50;

/**
 * Adds `/openapi.json`, its texts for language models, the page `/docs`, and a redirect from `/` to it for browsers.
 *
 * @param login sets the client of a request
 */
export function publishDocumentation(
  express: Express,
  application: INestApplicationContext,
  settings: Settings,
  credentials: Credentials | undefined,
  login: (request: CatalogueRequest) => Promise<void>,
): void {
  const files = new Map<string, FixedBody>();
  const bodyOf = (name: string, type: string, read: () => string | Buffer): FixedBody => {
    const body = files.get(name) ?? new FixedBody(type, Buffer.from(read()));
    files.set(name, body);
    return body;
  };
  const publish = (path: string, type: string, read: () => string): void => {
    express.get(path, (request, response) => bodyOf(path, type, read).send(request, response));
  };
  publishForClients(express, application, settings, login);
  express.get('/docs', (_request, response, next) => {
    response.setHeader('Content-Security-Policy', POLICY);
    next();
  });
  publish('/docs', 'text/html; charset=utf-8', () => HTML);
  publish('/docs/start.js', SCRIPT_TYPE, () => script(credentials));
  publish('/docs/accessibility.js', SCRIPT_TYPE, () => ACCESSIBILITY);
  publish('/docs/style.css', 'text/css; charset=utf-8', () => STYLE);
  publish('/docs/icon.svg', 'image/svg+xml', () => ICON);
  let modules: ReadonlySet<string> | undefined;
  // One route for all, since each route is compared with the path of every request.
  express.get('/docs/scalar/*name', (request: Request<{ name: string[] }>, response) => {
    const name = request.params.name.join('/');
    modules ??= new Set(readdirSync(SCALAR, { recursive: true, encoding: 'utf8' }));
    if (!modules.has(name) || !name.endsWith('.js')) throw noResourceAt(request.url);
    const read = (): Buffer => readFileSync(new URL(name, SCALAR));
    return bodyOf(name, SCRIPT_TYPE, read).send(request, response);
  });
  // Relative, so that they lead to the page behind a proxy with a path prefix, too.
  express.get('/docs/', (_request, response) => {
    response.redirect('../docs');
  });
  express.use((request, response, next) => {
    const isFrontPage = request.path === '/' && ['GET', 'HEAD'].includes(request.method);
    if (!isFrontPage || request.accepts(['json', 'html']) !== 'html') next();
    else response.redirect('docs');
  });
}

/** Adds what shows a client what it may use; without credentials, everything. */
function publishForClients(
  express: Express,
  application: INestApplicationContext,
  settings: Settings,
  login: (request: CatalogueRequest) => Promise<void>,
): void {
  const bodies = new LRUCache<string, FixedBody>({ max: MAXIMUM_DOCUMENTS });
  const publish = (path: string, type: string, read: (client?: ScopeClient) => string): void => {
    express.get(path, async (received, response) => {
      const request = received as CatalogueRequest;
      const { headers, parameters } = request;
      const isNamed = 'x-client-id' in headers || parameters.some(({ name }) => isCredential(name));
      if (isNamed) await login(request);
      const name = path + JSON.stringify(rightsOf(request.client));
      const body = bodies.get(name) ?? new FixedBody(type, Buffer.from(read(request.client)));
      bodies.set(name, body);
      return body.send(request, response);
    });
  };
  const endpoints = (client?: ScopeClient) =>
    endpointsFor(application, settingsFor(settings, client));
  publish('/openapi.json', JSON_TYPE, (client) =>
    JSON.stringify(openapiDocument(application, settings, client)),
  );
  publish('/llms.txt', TEXT_TYPE, (client) =>
    llmsText(endpoints(client), rightsOf(client).isPublic),
  );
  publish('/llms-full.txt', TEXT_TYPE, (client) => llmsFullText(endpoints(client), overview()));
}

/** A response body that does not change while the service runs, in each content coding. */
export class FixedBody {
  private readonly tag: string;
  private readonly encoded = new Map<Encoding, Promise<Buffer>>();

  /** @param type the `Content-Type` */
  constructor(
    private readonly type: string,
    private readonly body: Buffer,
  ) {
    this.tag = `W/"${hash('sha256', body, 'base64url')}"`;
  }

  async send(request: Request, response: Response): Promise<void> {
    response.setHeader('ETag', this.tag);
    if (request.fresh) {
      response.status(304).end();
      return;
    }
    const encoding = encodingOf(request.headers['accept-encoding']);
    const body = encoding ? await this.in(encoding) : this.body;
    if (encoding) response.setHeader('Content-Encoding', encoding);
    response.setHeader('Content-Type', this.type);
    response.setHeader('Content-Length', body.length);
    response.status(200).end(body);
  }

  /** The body in an encoding. It is compressed on first use. */
  private in(encoding: Encoding): Promise<Buffer> {
    const compressed = this.encoded.get(encoding) ?? compress(this.body, encoding);
    this.encoded.set(encoding, compressed);
    return compressed;
  }
}
