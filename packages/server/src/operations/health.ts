import type { IncomingMessage, ServerResponse } from 'node:http';

/** Which health check a request is for: that of `/health/live` or of `/health/ready`. */
export function healthCheckOf({ url = '' }: IncomingMessage): 'live' | 'ready' | undefined {
  return /^\/health\/(live|ready)(?:\?|$)/.exec(url)?.[1] as 'live' | 'ready' | undefined;
}

/**
 * Responds to a health check: with the reason why the service is not ready, if there is one.
 *
 * @param primary why the server is not a writable primary
 */
export function answerHealth(response: ServerResponse, reason?: string, primary?: string): void {
  const status = reason ? 'unavailable' : 'ok';
  const body = JSON.stringify({ status, reason, primary });
  answer(response, reason ? 503 : 200, 'application/json; charset=utf-8', body);
}

/** Writes a response to an operator, without the envelope. */
export function answer(response: ServerResponse, status: number, type: string, body: string): void {
  response.writeHead(status, {
    'Content-Type': type,
    'Content-Length': Buffer.byteLength(body),
    'Cache-Control': 'no-store',
  });
  response.end(body);
}
