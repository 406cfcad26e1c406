import { createHash } from 'node:crypto';

/** The seed of every randomised test of this run. The global setup chooses and prints one by default. */
export const SEED = Number(process.env.TEST_SEED);

/**
 * Pseudo-random choices that the seed repeats. Each concurrent task needs a generator of its own:
 * tasks that share one draw from it in an order that no seed repeats.
 */
export class Random {
  private state: number;

  /** @param name generators of different names make different choices */
  constructor(name: string) {
    this.state = createHash('sha256').update(`${SEED} ${name}`).digest().readInt32LE();
  }

  /** A number from 0 (inclusive) to 1 (exclusive), by mulberry32. */
  number(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let value = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** An integer from 0 (inclusive) to a bound (exclusive). */
  below(bound: number): number {
    return Math.floor(this.number() * bound);
  }

  /** True with a probability from 0 to 1. */
  chance(probability: number): boolean {
    return this.number() < probability;
  }

  pick<T>(values: readonly T[]): T {
    return values[this.below(values.length)] as T;
  }
}
