/** Bounds how many of something there are at a time for each key, such as requests for each client. */
export class KeyedLimit {
  private readonly counts = new Map<string, number>();

  /** @param maximum of each key */
  constructor(private readonly maximum: number) {}

  /** Counts one more until `leave`; false, and not counted, where the key has its maximum. */
  enter(key: string): boolean {
    const count = this.counts.get(key) ?? 0;
    if (count >= this.maximum) return false;
    this.counts.set(key, count + 1);
    return true;
  }

  leave(key: string): void {
    const count = this.counts.get(key) ?? 0;
    if (count > 1) this.counts.set(key, count - 1);
    else this.counts.delete(key);
  }
}
