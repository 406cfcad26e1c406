import type { IncomingMessage, ServerResponse } from 'node:http';

/**
 * Answers `/health/live` and `/health/ready`; false leaves any other path to others.
 *
 * @param readiness why the service should not be sent requests; `undefined` where it should
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

/** Writes what an operator asked for. */
export function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
