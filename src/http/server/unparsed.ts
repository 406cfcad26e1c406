import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import { type ApiError, errors } from '../errors.js';
import type { Observation } from '../observation.js';
import type { HeaderList } from './common-headers.js';
import type { Connections } from './connections.js';

/** Milliseconds that a client has to read the last response before its connection is destroyed. */
const LINGER = 1000;

/**
 * The error response to an error of Node's parser
 * (https://nodejs.org/api/http.html#event-clienterror); `undefined` if the client sent nothing.
 */
export function parserError({ code }: NodeJS.ErrnoException, socket: Duplex): ApiError | undefined {
  const isSilent = code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
  if (isSilent) return undefined;
  const isOversized = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  return isOversized ? errors.tooLarge().withStatus(431) : errors.malformed();
}

/**
 * Writes an error response for input that is not a valid request, after the pending responses of the
 * connection. Then closes the connection.
 */
export function sendUnparsedError(
  socket: Duplex,
  error: ApiError,
  connections: Connections,
  headers: HeaderList,
  observe: (observation: Observation) => void,
): void {
  if (connections.isEnding(socket)) return;
  connections.setEnding(socket);
  const sendLast = (): void => {
    if (!socket.writable) {
      socket.destroy();
      return;
    }
    const id = randomUUID();
    observe({ id, status: error.status, errcode: error.errcode, milliseconds: 0, rows: 0 });
    const date = new Date().toUTCString();
    const text = unparsedResponse(error, [['Date', date], ['X-Request-Id', id], ...headers]);
    endAndLinger(socket, text);
  };
  const latest = connections.latestOf(socket);
  if (!latest || latest.writableFinished || latest.destroyed) sendLast();
  else latest.once('finish', sendLast);
}

/** The error response as text, with `Connection: close`. */
export function unparsedResponse(error: ApiError, commonHeaders: HeaderList): string {
  const body = errorEnvelope(error);
  const headers: HeaderList = [
    ...commonHeaders,
    ['Content-Type', JSON_TYPE],
    ['Content-Length', String(Buffer.byteLength(body))],
    ['Connection', 'close'],
    ...Object.entries(error.headers),
  ];
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}

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
