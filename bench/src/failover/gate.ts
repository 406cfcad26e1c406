import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP proxy to a port of this machine, which can be shut. */
export class Gate {
  port = 0;
  private readonly sockets = new Set<Socket>();
  private readonly server;

  private constructor(target: number) {
    this.server = createServer((socket) => {
      const other = connect(target, '127.0.0.1');
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

  async shut(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    for (const socket of this.sockets) socket.destroy();
    await closed;
  }
}
