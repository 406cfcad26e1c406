import type { INestApplicationContext } from '@nestjs/common';
import type { Express, Request, Response } from 'express';
import { send } from '../http/envelope.js';
import type { Settings } from '../settings.js';
import { openapiDocument } from './document.js';

/** Adds `/openapi.json`. */
export function publishDocumentation(
  express: Express,
  application: INestApplicationContext,
  settings: Settings,
): void {
  let document: string | undefined;
  express.get('/openapi.json', (_request: Request, response: Response) => {
    document ??= JSON.stringify(openapiDocument(application, settings));
    send(response, 200, document);
  });
}
