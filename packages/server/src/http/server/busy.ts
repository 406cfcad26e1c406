import type { ServerResponse } from 'node:http';
import type { CatalogueRequest } from '../catalogue-request.js';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import { errors } from '../errors.js';
import type { HeaderList } from './common-headers.js';

const ERROR = errors.busy();
const BODY = errorEnvelope(ERROR);
const HEADERS = [
  ...Object.entries(ERROR.headers),
  ['Content-Type', JSON_TYPE],
  ['Content-Length', String(Buffer.byteLength(BODY))],
].flat();

/**
 * Sends `-4` without computing it. An overloaded service sends it to most requests, and the time that it takes is
 * not available to those that were admitted.
 *
 * @param id the request id
 * @param common the headers of every response, except `X-Request-Id`
 */
export function sendBusy(response: ServerResponse, id: string, common: HeaderList): void {
  (response.req as CatalogueRequest).errcode = ERROR.errcode;
  const headers = ['X-Request-Id', id, ...HEADERS];
  // `flat` takes twenty times as long.
  for (const [name, value] of common) headers.push(name, value);
  response.writeHead(ERROR.status, headers);
  response.end(BODY);
}
