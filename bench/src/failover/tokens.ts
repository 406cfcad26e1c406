import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../background.js';
import type { Cluster } from './cluster.js';

/** Tokens that exist at a time. */
const AT_A_TIME = 4;

/** A token that every instance is asked with all the time. */
interface Token {
  readonly id: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Since when the primary has told that it is deleted, in milliseconds. */
  deleted?: number;
  /** Whether its deletion was lost, or its time is counted already. */
  isOver: boolean;
}

/** Creates tokens, uses them at each instance, and deletes them on the primary, all the time. */
export class Tokens {
  private tokens = new Set<Token>();
  private longest = 0;
  readonly stop: () => Promise<void>;

  constructor(
    private readonly cluster: Cluster,
    private readonly clientID: string,
  ) {
    this.stop = inBackground((signal) =>
      Promise.all(Array.from({ length: AT_A_TIME }, (_, at) => this.run(signal, at))),
    );
  }

  /** Seconds from a deletion until the last instance refused the token, at most, or until now. */
  take(): number {
    for (const token of this.tokens) {
      this.count(token);
      token.isOver = token.deleted !== undefined;
    }
    const { longest } = this;
    this.longest = 0;
    return longest;
  }

  private count({ deleted, isOver }: Token): void {
    if (deleted === undefined || isOver) return;
    this.longest = Math.max(this.longest, (performance.now() - deleted) / 1000);
  }

  private async run(told: AbortSignal, at: number): Promise<void> {
    // At different times of a fault.
    await sleep(at * 2000);
    while (!told.aborted) {
      const word = randomBytes(32).toString('base64url');
      const headers = { 'X-Client-ID': this.clientID, Authorization: `Bearer ${word}` };
      const token: Token = { id: randomUUID(), headers, isOver: false };
      const hash = createHash('sha256').update(word).digest();
      await this.query(
        `INSERT INTO access_tokens ("tokenID", "clientID", hash) VALUES ($1, $2, $3)
         ON CONFLICT DO NOTHING`,
        [token.id, this.clientID, hash],
        told,
      );
      this.tokens.add(token);
      const uses = this.cluster.instances.map((address) => this.use(address, token, told));
      await sleep(5000);
      await this.query('DELETE FROM access_tokens WHERE "tokenID" = $1', [token.id], told);
      token.deleted = performance.now();
      const used = Promise.all(uses).then(() => {
        token.isOver = true;
      });
      await Promise.all([used, this.watch(token, told)]);
      this.tokens.delete(token);
    }
  }

  /** Asks an instance until it refuses the deleted token. */
  private async use(address: string, token: Token, told: AbortSignal): Promise<void> {
    while (!told.aborted && !token.isOver) {
      await sleep(500);
      try {
        const response = await fetch(`${address}/brands?limit=0`, {
          headers: token.headers,
          signal: AbortSignal.timeout(10_000),
        });
        const { result } = (await response.json()) as { result: { errcode: string } };
        // -40: as -11, where there were many of them.
        if (token.deleted === undefined || !['-11', '-40'].includes(result.errcode)) continue;
        this.count(token);
        return;
      } catch {
        // It is asked again.
      }
    }
  }

  /** Lets go of a token whose deletion was lost with other commits, as by a restored backup. */
  private async watch(token: Token, told: AbortSignal): Promise<void> {
    const text = 'SELECT FROM access_tokens WHERE "tokenID" = $1';
    while (!told.aborted && !token.isOver) {
      await sleep(500);
      if ((await this.query(text, [token.id], told)) > 0) token.isOver = true;
    }
  }

  /** Resolves with the number of rows when the primary has done it. */
  private async query(text: string, values: unknown[], told: AbortSignal): Promise<number> {
    while (!told.aborted) {
      try {
        const client = await this.cluster.connect('postgres');
        try {
          return (await client.query(text, values)).rowCount ?? 0;
        } finally {
          await client.end();
        }
      } catch {
        await sleep(200);
      }
    }
    return 0;
  }
}
