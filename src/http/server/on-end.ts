import type { ServerResponse } from 'node:http';

/**
 * Calls a listener when a response is ended: all of it is handed to its connection then, whether or
 * not its reader has taken it. `finish`, in contrast, waits for the reader.
 *
 * An own property, since Express replaces the prototype of a response.
 */
export function onEnd(response: ServerResponse, listener: () => void): void {
  const end = response.end.bind(response) as (...args: unknown[]) => ServerResponse;
  response.end = (...args: unknown[]): ServerResponse => {
    end(...args);
    listener();
    return response;
  };
}
