import { once } from 'node:events';
import { connect } from 'node:net';
import { errors } from '#server/http/errors.js';
import { type RawResponse, splitResponses } from '../http/raw-request.js';

/** The HTTP status and the errcode of an error response. */
export type Refused = readonly [status: number, errcode: string];

/** Milliseconds after which an open connection fails the test. */
const PATIENCE = 15_000;

/**
 * Sends bytes and returns all received bytes until the connection is closed.
 *
 * @param answers number of expected responses, after which the connection is half-closed
 */
export async function exchange(port: number, bytes: string | Buffer, answers = 1): Promise<Buffer> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk]);
    if (splitResponses(received).found.length >= answers) socket.end();
  });
  // Writing fails if the peer responds and closes before it has read everything.
  socket.on('error', () => undefined);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  const timer = setTimeout(() => {
    received = Buffer.concat([received, Buffer.from('… and was not closed')]);
    socket.destroy();
  }, PATIENCE);
  await once(socket, 'close');
  clearTimeout(timer);
  return received;
}

/** Splits bytes into error responses. Throws if any byte does not belong to one. */
export function refusalsIn(bytes: Buffer): Refused[] {
  const { found, rest } = splitResponses(bytes);
  if (rest.length > 0) throw new Error(`No envelope: ${rest.toString('latin1')}`);
  return found.map(refused);
}

function refused(response: RawResponse): Refused {
  const { status, headers, body } = response;
  const { result, ...more } = JSON.parse(body) as { result: Record<string, string> };
  const { errcode = '', msg = '' } = result;
  const definition = Object.values(errors).find((error) => String(error.errcode) === errcode);
  const isEnvelope =
    result.status === 'ERROR' &&
    msg !== '' &&
    Object.keys(result).length === 3 &&
    Object.keys(more).length === 0 &&
    definition?.statuses.includes(status) &&
    headers['content-type'] === 'application/json; charset=utf-8' &&
    headers['cache-control'] === 'private, no-cache' &&
    headers['x-content-type-options'] === 'nosniff' &&
    headers['content-security-policy'] === "default-src 'none';frame-ancestors 'none'";
  if (!isEnvelope) throw new Error(`No envelope: ${JSON.stringify(response)}`);
  return [status, errcode];
}
