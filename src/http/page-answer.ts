import type { IncomingMessage } from 'node:http';
import { compress, encodingOf, COMPRESSION_THRESHOLD } from './compression.js';
import { type Answer, type Page, successEnvelope } from './envelope.js';

/** The answer with a page in its envelope, compressed if the client accepts it and it is long enough. */
export async function pageAnswer(
  page: Page,
  { headers }: IncomingMessage,
): Promise<Answer & { body: Buffer }> {
  const body = Buffer.from(successEnvelope(page));
  const encoding =
    body.length < COMPRESSION_THRESHOLD ? undefined : encodingOf(headers['accept-encoding']);
  if (!encoding) return { status: 200, body };
  return { status: 200, body: await compress(body, encoding), encoding };
}
