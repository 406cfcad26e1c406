/** Milliseconds for which an answer is given again. */
const LIFETIME = 250;

/**
 * Makes a value at most once at a time and keeps it for a moment, so that its cost does not grow
 * with how many ask for it.
 */
export class BriefCache<T> {
  private kept: { readonly value: T; readonly until: number } | undefined;
  private making: Promise<T> | undefined;

  /**
   * @param make what makes the value
   * @param isKept whether a value may be given again; otherwise the next request makes another one
   */
  constructor(
    private readonly make: () => Promise<T>,
    private readonly isKept: (value: T) => boolean = () => true,
  ) {}

  async get(): Promise<T> {
    if (this.kept && performance.now() < this.kept.until) return this.kept.value;
    this.making ??= this.renew().finally(() => {
      this.making = undefined;
    });
    return this.making;
  }

  private async renew(): Promise<T> {
    const value = await this.make();
    this.kept = this.isKept(value) ? { value, until: performance.now() + LIFETIME } : undefined;
    return value;
  }
}
