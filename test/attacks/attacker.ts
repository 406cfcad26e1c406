import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The bytes of a GET request without a body. */
export function head(target: string, headers: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ Host: 'a', ...headers }).map(
    ([name, value]) => `${name}: ${value}`,
  );
  return `GET ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`;
}

/** Opens a connection and sends bytes. The connection is paused: nothing reads its responses. */
export async function send(port: number, bytes: string): Promise<Socket> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.pause();
  await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => undefined);
  socket.write(bytes);
  return socket;
}

/** Sends bytes and returns everything that the server sends until it closes, as Latin-1. */
export async function received(
  port: number,
  bytes: string,
  milliseconds = 15_000,
): Promise<string> {
  const socket = await send(port, bytes);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk)).resume();
  const timer = setTimeout(() => socket.destroy(), milliseconds);
  if (!socket.closed) await once(socket, 'close');
  clearTimeout(timer);
  return Buffer.concat(chunks).toString('latin1');
}
