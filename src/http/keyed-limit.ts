/** Limits how many of something exist at a time for each key, such as requests per client. */
export class KeyedLimit {
  private readonly counts = new Map<string, number>();

  /** @param maximum the limit for each key */
  constructor(private readonly maximum: number) {}

  /** Counts one more until `leave`. Returns false without counting if the key is at its maximum. */
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
