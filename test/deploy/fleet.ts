import { Instance } from '../faults/instance.js';
import { freePort } from '../free-port.js';
import { Proxy } from './proxy.js';

/** Instances on the same two ports, as in containers: each has a loopback address of its own. */
export class Fleet {
  private readonly started: Instance[] = [];
  private readonly proxies: Proxy[] = [];
  /** The last byte of the latest address. That of the tests and of HAProxy is 127.0.0.1. */
  private last = 1;

  private constructor(
    private readonly databaseUrl: string,
    private readonly ports: Instance['ports'],
  ) {}

  static async on(databaseUrl: string): Promise<Fleet> {
    return new Fleet(databaseUrl, {
      PORT: String(await freePort()),
      ADMIN_PORT: String(await freePort()),
    });
  }

  /** An address that no instance has had. */
  newHost(): string {
    return `127.0.0.${(this.last += 1)}`;
  }

  /** Starts an instance at a new address. */
  async start(environment: NodeJS.ProcessEnv = {}): Promise<Instance> {
    return this.startAt(this.newHost(), environment);
  }

  async startAt(host: string, environment: NodeJS.ProcessEnv = {}): Promise<Instance> {
    const instance = await Instance.start(this.databaseUrl, {
      ...this.ports,
      HOST: host,
      ...environment,
    });
    this.started.push(instance);
    return instance;
  }

  /** Starts HAProxy before instances, which need not run. */
  async proxyBefore(
    hosts: readonly string[],
    timeouts?: Readonly<Record<string, string>>,
    texts?: Readonly<Record<string, string>>,
  ): Promise<Proxy> {
    const proxy = await Proxy.before(this.ports, hosts, timeouts, texts);
    this.proxies.push(proxy);
    return proxy;
  }

  /** Ends all instances and proxies that it started. */
  async end(): Promise<void> {
    await Promise.all(this.started.map((instance) => instance.kill()));
    await Promise.all(this.proxies.map((proxy) => proxy.close()));
  }
}
