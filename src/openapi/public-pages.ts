import type { INestApplicationContext } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { JSON_TYPE } from '../http/envelope.js';
import { FixedBody } from '../http/fixed-body.js';
import type { Settings } from '../settings/settings.js';
import { openapiDocument } from './document.js';
import { HTML, POLICY, script, STYLE } from './page.js';

const SCRIPT_TYPE = 'text/javascript; charset=utf-8';
const STYLE_TYPE = 'text/css; charset=utf-8';
/** The files of Swagger UI that the page loads, with their media types. */
const ASSETS = [
  ['swagger-ui-bundle.js', SCRIPT_TYPE],
  ['swagger-ui.css', STYLE_TYPE],
  ['favicon-32x32.png', 'image/png'],
] as const;

const { resolve } = createRequire(import.meta.url);

/** Credentials in the page, with which its visitor can send requests at once. */
export interface Credentials {
  readonly clientID: string;
  readonly accessToken: string;
}

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
  publish('/docs/style.css', STYLE_TYPE, () => STYLE);
  for (const [name, type] of ASSETS) {
    publish(`/docs/${name}`, type, () => readFileSync(resolve(`swagger-ui-dist/${name}`)));
  }
  express.use((request: Request, response: Response, next: () => void) => {
    const isFrontPage = request.path === '/' && ['GET', 'HEAD'].includes(request.method);
    if (!isFrontPage || request.accepts(['json', 'html']) !== 'html') next();
    else response.redirect('/docs');
  });
}
