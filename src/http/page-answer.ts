import type { IncomingMessage } from 'node:http';
import { compress, encodingOf, WORTHWHILE } from './compression.js';
import { type Answer, type Page, success } from './envelope.js';

/** The response with a page: its envelope, compressed where the client accepts it and it is worth it. */
export async function pageAnswer(
  page: Page,
  { headers }: IncomingMessage,
): Promise<Answer & { body: Buffer }> {
  const body = Buffer.from(success(page));
  const encoding = body.length < WORTHWHILE ? undefined : encodingOf(headers['accept-encoding']);
  if (!encoding) return { status: 200, body };
  return { status: 200, body: await compress(body, encoding), encoding };
}
