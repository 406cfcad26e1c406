import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { errorEnvelope, JSON_TYPE } from '../envelope.js';
import { type ApiError, errors } from '../errors.js';
import type { HeaderList } from './common-headers.js';

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
