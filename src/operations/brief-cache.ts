/** Milliseconds for which a value is cached. */
const TTL = 250;

/**
 * Computes a value on demand and caches it for 250 ms. Concurrent requests share one computation, so
 * that its cost does not depend on the number of requests.
 */
export class BriefCache<T> {
  private cached: { readonly value: T; readonly until: number } | undefined;
  private computing: Promise<T> | undefined;

  /**
   * @param compute computes the value; if it rejects, nothing is cached
   * @param isCacheable whether to cache a value. Default: always
   */
  constructor(
    private readonly compute: () => Promise<T>,
    private readonly isCacheable: (value: T) => boolean = () => true,
  ) {}

  async get(): Promise<T> {
    if (this.cached && performance.now() < this.cached.until) return this.cached.value;
    this.computing ??= this.renew().finally(() => {
      this.computing = undefined;
    });
    return this.computing;
  }

  private async renew(): Promise<T> {
    const value = await this.compute();
    this.cached = this.isCacheable(value) ? { value, until: performance.now() + TTL } : undefined;
    return value;
  }
}
