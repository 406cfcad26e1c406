/** How long nothing succeeded. */
export class Gaps {
  private last = performance.now();
  private longest = 0;

  success(): void {
    const now = performance.now();
    this.longest = Math.max(this.longest, now - this.last);
    this.last = now;
  }

  /** Seconds of the longest time without a success, up to now, since this was asked last. */
  take(): number {
    this.success();
    const seconds = this.longest / 1000;
    this.longest = 0;
    return seconds;
  }
}
