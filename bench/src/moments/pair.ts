import type pg from 'pg';
import { connected } from '../background.js';
import { Gate } from '../failover/gate.js';
import { holdPostgres } from '../processes.js';
import { Postgres, type PostgresFolder } from './postgres.js';

/** A primary and its asynchronous replica, behind an address that leads to the primary. */
export class Pair {
  private servers = 1;

  private constructor(
    private readonly folder: PostgresFolder,
    private primary: Postgres,
    private replica: Postgres,
    private readonly gate: Gate,
  ) {}

  static async create(folder: PostgresFolder): Promise<Pair> {
    const primary = await Postgres.create(folder, 'server-0');
    const replica = await primary.replica('server-1');
    return new Pair(folder, primary, replica, await Gate.before(primary.port));
  }

  /** The URL of the primary, whichever it is. */
  url(role = 'catalogue', database = 'catalogue'): string {
    return `postgres://${role}:${this.folder.password}@127.0.0.1:${this.gate.port}/${database}`;
  }

  connect(role?: string, database?: string): Promise<pg.Client> {
    return connected(this.url(role, database));
  }

  setClock(seconds: number): Promise<void> {
    return this.folder.setClock(seconds);
  }

  /** Kills the primary, and starts it again. */
  async crash(): Promise<void> {
    await this.primary.kill();
    await this.primary.start();
  }

  /** Lets the primary go on without its replica, which has none of what is committed from now on. */
  hold(): Promise<void> {
    return holdPostgres(this.primary.pid);
  }

  /**
   * Kills the primary, promotes the replica, and creates another one.
   *
   * @param killed is called when nothing more can be committed, until the replica is promoted
   */
  async failOver(killed?: () => void): Promise<void> {
    await this.primary.kill();
    killed?.();
    await this.replica.query('SELECT pg_promote()');
    this.gate.lead(this.replica.port);
    await this.primary.remove();
    this.primary = this.replica;
    this.servers += 1;
    this.replica = await this.primary.replica(`server-${this.servers}`);
  }

  async remove(): Promise<void> {
    await this.gate.shut();
    await this.replica.remove();
    await this.primary.remove();
  }
}
