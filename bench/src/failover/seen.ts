/** What an instance has given of a list whose rows are never deleted, to tell an older page from it. */
export class Seen {
  /** Each count that was greater than all before, and when it was first given, in milliseconds. */
  private counts: (readonly [count: number, at: number])[] = [];

  get greatest(): number {
    return this.counts.at(-1)?.[0] ?? 0;
  }

  /** Takes a count; gives for how many seconds rows had been given that its page lacks, 0 if it lacks none. */
  take(count: number): number {
    const now = performance.now();
    const newer = this.counts.find(([given]) => given > count);
    if (newer) return (now - newer[1]) / 1000;
    if (count > this.greatest) this.counts.push([count, now]);
    return 0;
  }

  /** Forgets all: rows of it were lost. */
  clear(): void {
    this.counts = [];
  }
}
