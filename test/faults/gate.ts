import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP proxy that simulates network faults: refused, reset, silent and slow connections. */
export class Gate {
  private readonly server: Server;
  /** The number of connections that it has passed. */
  passed = 0;
  private readonly pairs = new Set<readonly [Socket, Socket]>();
  private port = 0;
  private silent = false;
  private delay = 0;

  private constructor(private target: URL) {
    this.server = createServer((socket) => {
      this.pass(socket);
    });
  }

  /** Creates an open gate. */
  static async before(url: string): Promise<Gate> {
    const gate = new Gate(new URL(url));
    await gate.open();
    return gate;
  }

  /** The URL of the server by way of the gate. */
  get url(): string {
    const url = new URL(this.target);
    [url.hostname, url.port] = ['127.0.0.1', String(this.port)];
    return url.href;
  }

  /** Listens, always on the same port. */
  async open(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Refuses new connections and resets the open ones. */
  async shut(): Promise<void> {
    this.cut();
    if (this.server.listening) await once(this.server.close(), 'close');
  }

  /** Resets the open connections. */
  cut(): void {
    for (const [socket] of this.pairs) socket.resetAndDestroy();
  }

  /** Leads to another server. Resets the open connections. */
  lead(url: string): void {
    this.redirect(url);
    this.cut();
  }

  /** Leads new connections to another server, as a TCP load balancer does that leaves the open ones where they are. */
  redirect(url: string): void {
    this.target = new URL(url);
  }

  /** Stops forwarding data without closing any connection. */
  silence(): void {
    for (const ends of this.pairs) for (const end of ends) end.pause();
    this.silent = true;
  }

  /** Forwards data of new connections again. */
  speak(): void {
    this.silent = false;
  }

  /** Delays all data from now on by a number of milliseconds. */
  slow(delay: number): void {
    this.delay = delay;
  }

  private pass(socket: Socket): void {
    this.passed += 1;
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
