/** What an instance has given of a list, to tell an older page from it. */
export class Seen {
  /** Each count that was greater than all before, and when it was first given, in milliseconds. */
  private counts: (readonly [count: number, at: number])[] = [];
  /** The last `X-Updated-Until` with a mark of the history. */
  watermark: string | undefined;

  /**
   * Takes the count of a list whose rows are never deleted, and its `X-Updated-Until`.
   *
   * @returns for how many seconds rows had been given that this page lacks; undefined if it lacks none
   */
  take(count: number, watermark: string | null): number | undefined {
    const now = performance.now();
    const newer = this.counts.find(([given]) => given > count);
    if (newer) return (now - newer[1]) / 1000;
    if (count > (this.counts.at(-1)?.[0] ?? -1)) this.counts.push([count, now]);
    // Without a mark there are 24 characters.
    if (watermark && watermark.length > 24) this.watermark = watermark;
    return undefined;
  }

  clear(): void {
    this.counts = [];
    this.watermark = undefined;
  }
}
