/**
 * A seeded source of numbers: mulberry32 (Tommy Ettinger, public domain), in 32-bit integer
 * arithmetic only, so that it gives the same numbers on every machine and every Node version.
 */
export class Random {
  constructor(private state: number) {}

  /** An integer from 0 up to, not including, `bound`. */
  below(bound: number): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let z = this.state;
    z = Math.imul(z ^ (z >>> 15), z | 1);
    z ^= z + Math.imul(z ^ (z >>> 7), z | 61);
    return ((z ^ (z >>> 14)) >>> 0) % bound;
  }

  /** An integer from `least` to `greatest`, both included. */
  between(least: number, greatest: number): number {
    return least + this.below(greatest - least + 1);
  }

  /** True `percent` times in a hundred. */
  chance(percent: number): boolean {
    return this.below(100) < percent;
  }

  pick<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  /** A copy of the list in another order (Fisher and Yates). */
  shuffled<T>(list: readonly T[]): T[] {
    const copy = [...list];
    for (let i = copy.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [copy[i], copy[j]] = [copy[j] as T, copy[i] as T];
    }
    return copy;
  }
}
