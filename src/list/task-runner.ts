import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFailure } from '../database/database-failure.js';
import type { SchemaDoubt } from '../database/schema-doubt.js';
import type { LoadingResources } from './reading/loading-resources.js';

/** Minimum milliseconds between two rounds. */
export const INTERVAL = 1000;

/** A task of maintenance. */
export interface Task {
  readonly name: string;
  /** Absent: it is of no single resource. */
  readonly resource?: string;
  /** Returns false if it has to run again soon. */
  readonly run: (round: number) => Promise<unknown>;
  /** Whether the task runs in this round. A failed task runs in any case. Default: every round. */
  readonly isDue?: (round: number) => boolean;
}

interface Failure {
  readonly resource: string | undefined;
  readonly isFault: boolean;
}

/** Runs tasks in rounds, and remembers which of them fail. Each can fail independently. */
export class TaskRunner {
  private readonly logger = new Logger('Maintenance');
  /** The tasks whose latest run failed, by name. */
  private readonly failing = new Map<string, Failure>();

  constructor(
    private readonly schemaDoubt: SchemaDoubt,
    private readonly loading: LoadingResources,
  ) {}

  /** Whether a task fails on a database that works, as if it lacks what the task needs. */
  get hasFault(): boolean {
    return [...this.failing.values()].some(({ isFault }) => isFault);
  }

  /** The number of tasks of a resource whose latest run failed. */
  failuresOf(resource: string): number {
    return [...this.failing.values()].filter((failure) => failure.resource === resource).length;
  }

  /**
   * Runs rounds until `signal` is aborted.
   *
   * @param interval milliseconds between two rounds
   * @param onRound called after each round with whether every task succeeded
   */
  async repeat(
    tasks: readonly Task[],
    interval: number,
    signal: AbortSignal,
    onRound?: (succeeded: boolean) => void,
  ): Promise<void> {
    for (let round = 0; !signal.aborted; round += 1) {
      const began = performance.now();
      const succeeded = await this.round(tasks, round);
      onRound?.(succeeded);
      // A failed round is repeated soon, but one that takes long not at once: until it succeeds, the metrics and
      // `/health/ready` say that it fails.
      const soon = Math.max(INTERVAL, performance.now() - began);
      const pause = succeeded ? interval : Math.min(interval, soon);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Runs the tasks that are due. Returns false if any failed. */
  private async round(tasks: readonly Task[], round: number): Promise<boolean> {
    let succeeded = true;
    for (const { name, resource, run, isDue } of tasks) {
      if (isDue?.(round) === false && !this.failing.has(name)) continue;
      // Its lock would hold up the tasks of the others.
      if (resource !== undefined && this.loading.has(resource)) continue;
      try {
        await run(round);
        if (this.failing.delete(name)) this.logger.warn(`Maintenance of ${name} works again`);
      } catch (error) {
        succeeded = false;
        // Log the first failure only, not one per round.
        if (!this.failing.has(name)) {
          this.logger.warn(`Maintenance of ${name} fails: ${(error as Error).message}`);
        }
        // Before a request notices.
        void this.schemaDoubt.explains(error);
        const failure = databaseFailure(error);
        this.failing.set(name, { resource, isFault: failure === undefined });
        // Without the database the other tasks would only wait and fail too.
        if (failure === 'unreachable') break;
      }
    }
    return succeeded;
  }
}
