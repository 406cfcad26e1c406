import { compress, encodingOf, COMPRESSION_THRESHOLD } from './compression.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { type Answer, type Page, successEnvelope } from './envelope.js';
import { traced } from './request-trace.js';

/** The answer with a page in its envelope, compressed if the client accepts it and it is long enough. */
export function pageAnswer(
  page: Page,
  request: Pick<CatalogueRequest, 'headers' | 'trace'>,
): Promise<BodyAnswer> {
  return traced(request, 'serialisation', () => answerOf(page, request));
}

/** An answer with a body. */
type BodyAnswer = Answer & { readonly body: Buffer };

async function answerOf(
  page: Page,
  { headers }: Pick<CatalogueRequest, 'headers'>,
): Promise<BodyAnswer> {
  const body = Buffer.from(successEnvelope(page));
  const encoding =
    body.length < COMPRESSION_THRESHOLD ? undefined : encodingOf(headers['accept-encoding']);
  if (!encoding) return { status: 200, body };
  return { status: 200, body: await compress(body, encoding), encoding };
}
