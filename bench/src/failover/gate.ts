import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a port of this machine, which can be shut. */
export class Gate {
  port = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server;

  private constructor(private target: number) {
    this.server = createServer((socket) => {
      const other = connect(this.target, '127.0.0.1');
      for (const end of [socket, other]) {
        this.sockets.add(end);
        end.once('close', () => {
          this.sockets.delete(end);
          socket.destroy();
          other.destroy();
        });
        end.on('error', () => undefined);
      }
      socket.pipe(other).pipe(socket);
    });
  }

  /** Creates an open gate. */
  static async before(target: number): Promise<Gate> {
    const gate = new Gate(target);
    await gate.open();
    return gate;
  }

  /** Listens, always on the same port. */
  async open(): Promise<void> {
    await once(this.server.listen(this.port, '127.0.0.1'), 'listening');
    this.port = (this.server.address() as AddressInfo).port;
  }

  /** Leads to another port. Closes the open connections. */
  lead(target: number): void {
    this.leadNew(target);
    this.cut();
  }

  /** Leads new connections to another port, and leaves the open ones where they are. */
  leadNew(target: number): void {
    this.target = target;
  }

  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.cut();
    await closed;
  }

  private cut(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
