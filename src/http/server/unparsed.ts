import { randomUUID } from 'node:crypto';
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { failure, JSON_TYPE } from '../envelope.js';
import { type ApiError, errors } from '../errors.js';
import type { Observation } from './observation.js';
import { commonHeaders } from './common-headers.js';
import type { Connections } from './connections.js';

/** Milliseconds that a client has to read a refusal before its connection is destroyed. */
const LINGER = 1000;

/**
 * What Node's parser found wrong, https://nodejs.org/api/http.html#event-clienterror; `undefined`
 * where nothing was sent that could be answered.
 */
export function parserRefusal(
  { code }: NodeJS.ErrnoException,
  socket: Duplex,
): ApiError | undefined {
  const isSilent = code === 'ERR_HTTP_REQUEST_TIMEOUT' && (socket as Socket).bytesRead === 0;
  if (isSilent) return undefined;
  const isOversized = code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW';
  return isOversized ? errors.tooLarge().withStatus(431) : errors.malformed();
}

/**
 * Writes an envelope to a connection for what is no request, after the responses that it still
 * owes, and closes it.
 */
export function refuseUnparsed(
  socket: Duplex,
  error: ApiError,
  connections: Connections,
  observe: (observation: Observation) => void,
): void {
  const latest = connections.latestOf(socket);
  if (latest && !latest.writableFinished && !latest.destroyed) {
    latest.once('finish', () => {
      refuseUnparsed(socket, error, connections, observe);
    });
    return;
  }
  // In the body of a request that has its answer: a second one would be taken for the next's.
  if (!socket.writable || latest?.req.complete === false) {
    socket.destroy();
    return;
  }
  const id = randomUUID();
  observe({ id, status: error.status, errcode: error.errcode, milliseconds: 0, rows: 0 });
  socket.end(text(error, id));
  // The client may never close its side, and Node has no timeout for a connection without a parser.
  (socket as Socket).setTimeout(LINGER, () => socket.destroy());
}

function text(error: ApiError, id: string): string {
  const body = failure(error);
  const headers = Object.entries({
    ...commonHeaders(id),
    'Content-Type': JSON_TYPE,
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
    ...error.headers,
  });
  const head = [
    `HTTP/1.1 ${error.status} ${STATUS_CODES[error.status] ?? ''}`,
    ...headers.map(([name, value]) => `${name}: ${value}`),
  ];
  return `${head.join('\r\n')}\r\n\r\n${body}`;
}
