/**
 * Runs an asynchronous function for concurrent callers. Each gets the result of a run that begins after its
 * call, and those that call during a run share the next one: at most one waits at any time.
 */
export class Coalesced<T> {
  private current: Promise<T> | undefined;
  private next: Promise<T> | undefined;

  constructor(private readonly run: () => Promise<T>) {}

  /** The result of a run that begins after the call; rejects if that run does. */
  result(): Promise<T> {
    if (!this.current) return this.begin();
    this.next ??= this.current
      .catch(() => undefined)
      .then(() => {
        this.next = undefined;
        return this.begin();
      });
    return this.next;
  }

  private begin(): Promise<T> {
    this.current = this.run().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }
}
