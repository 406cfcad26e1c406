import type { INestApplicationContext } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { createRequire } from 'node:module';
import { send } from '../http/envelope.js';
import type { Settings } from '../settings.js';
import { openapiDocument } from './document.js';
import { HTML, POLICY, script, STYLE } from './page.js';

/** The parts of Swagger UI that the page loads; all of it is served from here. */
const ASSETS = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png'];

const { resolve } = createRequire(import.meta.url);

/** What a page carries so that its visitor can send requests at once. */
export interface Credentials {
  readonly clientID: string;
  readonly accessToken: string;
}

/** Adds `/openapi.json`, the page `/docs`, and the way there from `/` for browsers. */
export function publishDocumentation(
  express: Express,
  application: INestApplicationContext,
  settings: Settings,
  credentials: Credentials | undefined,
): void {
  let document: string | undefined;
  express.get('/openapi.json', (_request: Request, response: Response) => {
    document ??= JSON.stringify(openapiDocument(application, settings));
    send(response, 200, document);
  });
  express.get('/docs', (_request: Request, response: Response) => {
    response.setHeader('Content-Security-Policy', POLICY);
    response.type('html').send(HTML);
  });
  express.get('/docs/start.js', (_request: Request, response: Response) => {
    response.type('js').send(script(credentials));
  });
  express.get('/docs/style.css', (_request: Request, response: Response) => {
    response.type('css').send(STYLE);
  });
  for (const name of ASSETS) {
    const file = resolve(`swagger-ui-dist/${name}`);
    express.get(`/docs/${name}`, (_request: Request, response: Response) => {
      response.sendFile(file, { cacheControl: false });
    });
  }
  express.use((request: Request, response: Response, next: () => void) => {
    const isFrontPage = request.path === '/' && ['GET', 'HEAD'].includes(request.method);
    if (!isFrontPage || request.accepts(['json', 'html']) !== 'html') next();
    else response.vary('Accept').redirect('/docs');
  });
}
