import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

/** https://www.rfc-editor.org/rfc/rfc1035#section-4.1 */
const HEADER_LENGTH = 12;
const TYPE_A = 1;
/** A response that is authoritative, to a query with recursion desired. */
const FLAGS = 0x8580;
/** The name of the question, which follows the header. */
const POINTER = 0xc000 | HEADER_LENGTH;

/** A name server that answers every name with the same IPv4 addresses, as that of Docker does a service. */
export class NameServer {
  /** In dotted decimal. */
  addresses: readonly string[] = [];

  private constructor(private readonly socket: Socket) {
    socket.on('message', (query, { port, address }) => {
      socket.send(this.answer(query), port, address);
    });
  }

  /** Starts a name server without addresses on a free UDP port of the loopback address. */
  static async start(): Promise<NameServer> {
    const socket = createSocket('udp4').bind(0, '127.0.0.1');
    await once(socket, 'listening');
    return new NameServer(socket);
  }

  get port(): number {
    return this.socket.address().port;
  }

  async stop(): Promise<void> {
    this.socket.close();
    await once(this.socket, 'close');
  }

  private answer(query: Buffer): Buffer {
    const nameEnd = query.indexOf(0, HEADER_LENGTH) + 1;
    const question = query.subarray(HEADER_LENGTH, nameEnd + 4);
    const addresses = query.readUInt16BE(nameEnd) === TYPE_A ? this.addresses : [];
    const header = Buffer.alloc(HEADER_LENGTH);
    for (const [at, value] of [query.readUInt16BE(0), FLAGS, 1, addresses.length].entries()) {
      header.writeUInt16BE(value, at * 2);
    }
    return Buffer.concat([header, question, ...addresses.map(record)]);
  }
}

/** A record of type A and class IN with a time to live of 0. */
function record(address: string): Buffer {
  const fixed = Buffer.alloc(12);
  for (const [at, value] of [POINTER, TYPE_A, 1, 0, 0, 4].entries()) {
    fixed.writeUInt16BE(value, at * 2);
  }
  return Buffer.concat([fixed, Buffer.from(address.split('.').map(Number))]);
}
