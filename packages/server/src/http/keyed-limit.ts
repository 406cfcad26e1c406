/** Limits how many of something exist at a time for each key, such as requests per client. */
export class KeyedLimit {
  private readonly counts = new Map<string, number>();

  /** @param maximum the limit for each key */
  constructor(private readonly maximum: number) {}

  /**
   * Whether the key is below its maximum.
   *
   * @param share the fraction of the maximum that there is room for at present, up to 1
   */
  hasRoom(key: string, share = 1): boolean {
    return (this.counts.get(key) ?? 0) < this.maximum * share;
  }

  /** Counts one more until `leave`, if there is room. Returns false without counting otherwise. */
  enter(key: string, share = 1): boolean {
    if (!this.hasRoom(key, share)) return false;
    this.counts.set(key, (this.counts.get(key) ?? 0) + 1);
    return true;
  }

  leave(key: string): void {
    const count = this.counts.get(key) ?? 0;
    if (count > 1) this.counts.set(key, count - 1);
    else this.counts.delete(key);
  }
}
