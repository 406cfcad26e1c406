import type { Duplex } from 'node:stream';

/** Milliseconds that a client has to read the last response before its connection is destroyed. */
const LINGER = 1000;

/**
 * Ends a connection, after a last text if there is one. Destroys it when its client has had time to read: to
 * destroy it while the client sends would reset it, and the client could lose the response
 * (RFC 9112, section 9.6).
 */
export function endAndLinger(socket: Duplex, text?: string): void {
  socket.end(text);
  // Not a timeout of the socket, which a client that keeps sending would put off for ever.
  const timer = setTimeout(() => socket.destroy(), LINGER);
  socket.once('close', () => {
    clearTimeout(timer);
  });
}
