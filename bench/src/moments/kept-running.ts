import { setTimeout as sleep } from 'node:timers/promises';
import { inBackground } from '../background.js';
import type { Server } from '../processes.js';

/** A process that is started again whenever it ends. */
export class KeptRunning {
  private server: Server | undefined;
  readonly stop: () => Promise<void>;

  /** @param started gets the address each time */
  constructor(
    private readonly start: () => Promise<Server>,
    private readonly started: (address: string) => void = () => undefined,
  ) {
    this.stop = inBackground((signal) => this.run(signal));
  }

  kill(): void {
    if (this.server?.isRunning()) process.kill(this.server.pid, 'SIGKILL');
  }

  private async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        this.server = await this.start();
        this.started(this.server.address);
        while (this.server.isRunning()) await sleep(50, undefined, { signal });
      } catch {
        // Its database is not there, or the signal was aborted.
      }
      await sleep(200);
    }
    await this.server?.stop();
  }
}
