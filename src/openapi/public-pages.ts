import type { INestApplicationContext } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { readdirSync, readFileSync } from 'node:fs';
import { JSON_TYPE } from '../http/envelope.js';
import { noResourceAt } from '../http/errors.js';
import { FixedBody } from '../http/fixed-body.js';
import type { Settings } from '../settings/settings.js';
import { openapiDocument } from './document.js';
import { ACCESSIBILITY, type Credentials, HTML, ICON, POLICY, script, STYLE } from './page.js';

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';
/** The modules of Scalar, which the build copies: `assets` in nest-cli.json. */
const SCALAR = new URL('../../dist/@scalar/api-reference/dist/browser/', import.meta.url);

/** Adds `/openapi.json`, the page `/docs`, and a redirect from `/` to it for browsers. */
export function publishDocumentation(
  express: Express,
  application: INestApplicationContext,
  settings: Settings,
  credentials: Credentials | undefined,
): void {
  const publish = (path: string, type: string, read: () => string | Buffer): void => {
    let body: FixedBody | undefined;
    express.get(path, async (request: Request, response: Response) => {
      body ??= new FixedBody(type, Buffer.from(read()));
      await body.send(request, response);
    });
  };
  publish('/openapi.json', JSON_TYPE, () => JSON.stringify(openapiDocument(application, settings)));
  express.get('/docs', (_request: Request, response: Response, next: () => void) => {
    response.setHeader('Content-Security-Policy', POLICY);
    next();
  });
  publish('/docs', 'text/html; charset=utf-8', () => HTML);
  publish('/docs/start.js', SCRIPT_TYPE, () => script(credentials));
  publish('/docs/accessibility.js', SCRIPT_TYPE, () => ACCESSIBILITY);
  publish('/docs/style.css', STYLE_TYPE, () => STYLE);
  publish('/docs/icon.svg', 'image/svg+xml', () => ICON);
  publishScalar(express);
  // Relative, so that they lead to the page behind a proxy with a path prefix, too.
  express.get('/docs/', (_request: Request, response: Response) => {
    response.redirect('../docs');
  });
  express.use((request: Request, response: Response, next: () => void) => {
    const isFrontPage = request.path === '/' && ['GET', 'HEAD'].includes(request.method);
    if (!isFrontPage || request.accepts(['json', 'html']) !== 'html') next();
    else response.redirect('docs');
  });
}

/** Adds the modules of Scalar. They import each other by relative paths. */
function publishScalar(express: Express): void {
  const bodies = new Map<string, FixedBody>();
  const read = (name: string): FixedBody => {
    const body = new FixedBody(SCRIPT_TYPE, readFileSync(new URL(name, SCALAR)));
    bodies.set(name, body);
    return body;
  };
  let names: ReadonlySet<string> | undefined;
  // One route for all, since each route is compared with the path of every request.
  express.get(
    '/docs/scalar/*name',
    async (request: Request<{ name: string[] }>, response: Response) => {
      const name = request.params.name.join('/');
      names ??= new Set(readdirSync(SCALAR, { recursive: true, encoding: 'utf8' }));
      if (!names.has(name) || !name.endsWith('.js')) throw noResourceAt(request.url);
      await (bodies.get(name) ?? read(name)).send(request, response);
    },
  );
}
