import type { ServerResponse } from 'node:http';

/**
 * Calls a listener when `end()` of a response is called. The response has then been passed to its
 * connection in full. The event `finish`, in contrast, waits until the system has taken the data.
 *
 * It sets an own property, so that it holds for this response alone, whatever its prototype.
 */
export function onEnd(response: ServerResponse, listener: () => void): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]): ServerResponse => {
    end(...args);
    listener();
    return response;
  };
}
