import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A response as received from the socket. */
export interface RawResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/**
 * Sends bytes that no HTTP client would send. Returns the responses when the server has sent the given
 * number of them or has closed the connection.
 *
 * @param more called after the bytes, to send more
 */
export async function rawRequest(
  port: number,
  bytes: string | Buffer,
  responses = 1,
  more: (socket: Socket) => Promise<void> = () => Promise.resolve(),
): Promise<RawResponse[]> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  let received = Buffer.alloc(0);
  socket.on('error', () => undefined);
  socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  try {
    const sent = more(socket);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`No answer within 5 s, only: ${received.toString('latin1')}`));
      }, 5000);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      socket.on('data', (chunk) => {
        received = Buffer.concat([received, chunk]);
        if (parseResponses(received).length >= responses) done();
      });
      socket.on('close', done);
    });
    await sent;
  } finally {
    socket.destroy();
  }
  return parseResponses(received);
}

function parseResponses(bytes: Buffer): RawResponse[] {
  return splitResponses(bytes).found;
}

/** Parses the complete responses at the beginning of `bytes`. Returns them with the remaining bytes. */
export function splitResponses(bytes: Buffer): { found: RawResponse[]; rest: Buffer } {
  const found: RawResponse[] = [];
  let rest = bytes;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return { found, rest };
    const [start = '', ...lines] = rest.subarray(0, end).toString('latin1').split('\r\n');
    const headers = Object.fromEntries(
      lines.map((line) => {
        const colon = line.indexOf(':');
        return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
      }),
    );
    const length = Number(headers['content-length'] ?? 0);
    const body = rest.subarray(end + 4, end + 4 + length);
    if (body.length < length) return { found, rest };
    found.push({ status: Number(start.split(' ')[1]), headers, body: body.toString() });
    rest = rest.subarray(end + 4 + length);
  }
}
