import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type RawResponse, splitResponses } from './raw-request.js';

/**
 * Milliseconds without a byte for any client, after which a connection that stays open fails the test. One of hundreds of
 * clients may have to wait for the answers to all others.
 */
const PATIENCE = 15_000;

/** A client whose two directions end by themselves: it neither ends when the server does, nor the reverse. */
export class HalfOpenClient {
  /** When any client received a byte last. */
  private static receivedAt = 0;
  private readonly chunks: Buffer[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on('data', (chunk: Buffer) => {
      this.chunks.push(chunk);
      HalfOpenClient.receivedAt = performance.now();
    });
    // Writing fails after the server has closed the connection.
    socket.on('error', () => undefined);
  }

  static async connect(port: number, host = '127.0.0.1'): Promise<HalfOpenClient> {
    const socket = connect({ port, host, allowHalfOpen: true });
    const client = new HalfOpenClient(socket);
    await once(socket, 'connect');
    return client;
  }

  write(bytes: string | Buffer): void {
    this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Sends FIN after what was written. */
  end(): void {
    this.socket.end();
  }

  /** Stops reading. */
  pause(): void {
    this.socket.pause();
  }

  resume(): void {
    this.socket.resume();
  }

  /** Sends bytes again and again as fast as the server takes them. */
  flood(bytes: Buffer): void {
    const more = (): void => {
      if (this.socket.writable) this.socket.write(bytes, more);
    };
    more();
  }

  /** Waits until the server has ended its direction or closed the connection. Returns its responses. */
  async untilEnd(): Promise<RawResponse[]> {
    await this.ended();
    const { found, rest } = splitResponses(this.received);
    if (rest.length > 0) throw new Error(`A part of a response: ${rest.toString('latin1')}`);
    return found;
  }

  /** As `untilEnd`. Returns all that it received. */
  async untilEndAsText(): Promise<string> {
    await this.ended();
    return this.received.toString('latin1');
  }

  destroy(): void {
    this.socket.destroy();
  }

  private get received(): Buffer {
    return Buffer.concat(this.chunks);
  }

  private async ended(): Promise<void> {
    if (this.socket.readableEnded || this.socket.closed) return;
    const began = performance.now();
    await new Promise<void>((resolve, reject) => {
      const timer = setInterval(() => {
        const silence = performance.now() - Math.max(began, HalfOpenClient.receivedAt);
        if (silence < PATIENCE) return;
        clearInterval(timer);
        reject(new Error(`The server keeps the connection: ${this.received.toString('latin1')}`));
      }, PATIENCE / 10);
      const done = () => {
        clearInterval(timer);
        resolve();
      };
      // Without `end`, the connection was reset.
      this.socket.once('end', done).once('close', done);
    });
  }
}
