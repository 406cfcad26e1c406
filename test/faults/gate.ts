import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A proxy before a server that can be shut, fall silent or be slow, as networks do. */
export class Gate {
  private readonly server: Server;
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private port = 0;
  private silent = false;
  private delay = 0;

  private constructor(private readonly target: URL) {
    this.server = createServer((socket) => {
      this.pass(socket);
    });
  }

  /** One that is open. */
  static async before(url: string): Promise<Gate> {
    const gate = new Gate(new URL(url));
    await gate.open();
    return gate;
  }

  /** The URL by which the server is reached through it. */
  get url(): string {
    const url = new URL(this.target);
    [url.hostname, url.port] = ['127.0.0.1', String(this.port)];
    return url.href;
  }

  /** Listens, always at the same port. */
  async open(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses whoever comes, and resets the connections that there are. */
  async shut(): Promise<void> {
    this.cut();
    if (this.server.listening) await once(this.server.close(), 'close');
  }

  /** Resets the connections that there are. */
  cut(): void {
    for (const [socket] of this.pairs) socket.resetAndDestroy();
  }

  /** Nothing arrives any more on the connections that there are, and none is closed. */
  silence(): void {
    for (const ends of this.pairs) for (const end of ends) end.pause();
    this.silent = true;
  }

  /** New connections are passed on again. */
  speak(): void {
    this.silent = false;
  }

  /** What is sent from now on arrives so many milliseconds later. */
  slow(delay: number): void {
    this.delay = delay;
  }

  private pass(socket: Socket): void {
    const server = connect(Number(this.target.port), this.target.hostname);
    const pair = [socket, server] as const;
    this.pairs.add(pair);
    for (const [from, to] of [pair, [server, socket] as const]) {
      from.on('error', () => undefined);
      from.on('close', () => {
        this.pairs.delete(pair);
        to.destroy();
      });
      from.on('data', (chunk) => {
        if (this.delay === 0) to.write(chunk);
        else setTimeout(() => to.write(chunk), this.delay);
      });
      if (this.silent) from.pause();
    }
  }
}
