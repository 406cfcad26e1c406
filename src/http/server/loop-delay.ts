/** Milliseconds between two measurements. */
const INTERVAL = 10;
/** The share of a delay that remains after the next measurement without one. */
const DECAY = 0.9;

/**
 * How long a pass of Node's event loop takes at present. A pass handles every socket that has data, so
 * that it takes longer the more requests arrive.
 */
export class LoopDelay {
  private current = 0;
  private due = 0;
  private timer: NodeJS.Timeout | undefined;

  /** Milliseconds: the latest delay, or a longer one of the last tenths of a second, which fades. */
  get milliseconds(): number {
    return this.current;
  }

  start(): void {
    this.due = performance.now() + INTERVAL;
    this.timer ??= setInterval(this.measure, INTERVAL).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
    this.current = 0;
  }

  private readonly measure = (): void => {
    const now = performance.now();
    this.current = Math.max(now - this.due, this.current * DECAY);
    this.due = now + INTERVAL;
  };
}
