import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Express, Request, Response } from 'express';
import type { ILayer } from 'express-serve-static-core';

// What the service uses of Node and Express that they do not document. `test/private-api.spec.ts` fails if an upgrade takes
// one of them away. Any folder may import this file, and no other folder imports what is private.

/** Stops listening. `http.Server.close` would also close idle connections. */
export async function closeListener(server: Server): Promise<void> {
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
}

/**
 * Keeps the connections whose clients have ended their direction. Node closes such a connection, and pending responses are
 * lost. A client that is gone without a reset is noticed when a response is written.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Replaces what Node does with a connection after a response that has `Connection: close`. */
export function replaceClose(socket: Socket, close: () => void): void {
  socket.destroySoon = close;
}

export type MessageClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

/**
 * The classes of a server's requests and responses, with the prototypes that Express gives them. Setting
 * the prototype of an existing object, as Express does otherwise for each of them, makes V8 use slow
 * access to their properties, and keeps them in memory until a full garbage collection.
 */
export function messageClasses(application: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, application.request);
  Object.setPrototypeOf(ExpressResponse.prototype, application.response);
  application.request = ExpressRequest.prototype as Request;
  application.response = ExpressResponse.prototype as unknown as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** The methods of the routes that match a path, in upper case. */
export function methodsAt(application: Express, path: string): Set<string> {
  const layers = application.router.stack as (ILayer & { match(path: string): unknown })[];
  return new Set(
    layers
      .filter((layer) => layer.route && layer.match(path))
      .flatMap((layer) => layer.route?.stack.map(({ method }) => method.toUpperCase()) ?? []),
  );
}
