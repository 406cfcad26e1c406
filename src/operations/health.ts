import type { IncomingMessage, ServerResponse } from 'node:http';

/** Whether a request is for `/health/live` or `/health/ready`. */
export function isHealthRequest({ url = '' }: IncomingMessage): boolean {
  return /^\/health\/(live|ready)(\?|$)/.test(url);
}

/**
 * Responds to `/health/live` and `/health/ready`.
 *
 * @param readiness why the service is not ready; `undefined` if it is ready. Must not reject.
 * @returns false if the path is another one
 */
export function answerHealth(
  request: IncomingMessage,
  response: ServerResponse,
  readiness: () => Promise<string | undefined>,
): boolean {
  switch (request.url?.split('?', 1)[0]) {
    case '/health/live':
      answer(response, 200, JSON_TYPE, '{"status":"ok"}');
      return true;
    case '/health/ready':
      void readiness().then((reason) => {
        const body = JSON.stringify(reason ? { status: 'unavailable', reason } : { status: 'ok' });
        answer(response, reason ? 503 : 200, JSON_TYPE, body);
      });
      return true;
    default:
      return false;
  }
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Writes a response to an operator, without the envelope. */
export function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
