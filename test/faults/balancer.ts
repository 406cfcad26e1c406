import { once } from 'node:events';
import {
  Agent,
  createServer,
  get,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';

/** Where an instance listens, for clients and for health. */
export interface Addresses {
  readonly address: string;
  readonly adminAddress: string;
}

/** Milliseconds between two health checks of an instance. */
const EVERY = 50;

/**
 * A load balancer: it forwards requests to ready instances by round robin, and retries on another
 * instance if one does not respond.
 */
export class Balancer {
  private readonly server: Server;
  private readonly agent = new Agent({ keepAlive: true });
  private readonly looking: NodeJS.Timeout;
  private ready: string[] = [];
  private turn = 0;

  private constructor(instances: readonly Addresses[]) {
    this.server = createServer((incoming, outgoing) => {
      this.pass(incoming, outgoing, []);
    });
    this.looking = setInterval(() => {
      for (const instance of instances) this.look(instance);
    }, EVERY);
  }

  static async before(instances: readonly Addresses[]): Promise<Balancer> {
    const balancer = new Balancer(instances);
    await once(balancer.server.listen(0, '127.0.0.1'), 'listening');
    return balancer;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  isReady(address: string): boolean {
    return this.ready.includes(address);
  }

  async close(): Promise<void> {
    clearInterval(this.looking);
    this.agent.destroy();
    this.server.closeAllConnections();
    await once(this.server.close(), 'close');
  }

  private look({ address, adminAddress }: Addresses): void {
    const known = (isReady: boolean) => {
      const others = this.ready.filter((other) => other !== address);
      this.ready = isReady ? [...others, address] : others;
    };
    get(`${adminAddress}/health/ready`, { agent: false, timeout: 1000 }, (response) => {
      known(response.statusCode === 200);
      response.resume();
    }).on('error', () => {
      known(false);
    });
  }

  private pass(incoming: IncomingMessage, outgoing: ServerResponse, tried: string[]): void {
    const others = this.ready.filter((instance) => !tried.includes(instance));
    const instance = others[(this.turn += 1) % others.length];
    if (instance === undefined) {
      outgoing.writeHead(502).end();
      return;
    }
    const { url = '', headers } = incoming;
    const asked = request(instance + url, { agent: this.agent, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: 'keep-alive' });
      answer.pipe(outgoing);
      // A response that was aborted midway cannot be retried.
      answer.on('error', () => outgoing.destroy());
    });
    asked.on('error', () => {
      if (!outgoing.headersSent) this.pass(incoming, outgoing, [...tried, instance]);
    });
    asked.end();
  }
}
