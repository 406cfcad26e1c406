import { Logger } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseFailure } from '../database/database-failure.js';
import type { SchemaDoubt } from '../database/schema-doubt.js';
import type { UnavailableResources } from './reading/unavailable-resources.js';

/** Minimum milliseconds between two rounds. */
export const PERIOD = 1000;

/** A task of maintenance. */
export interface Task {
  readonly name: string;
  /** Absent: it is of no single resource. */
  readonly resource?: string;
  /** Work that another instance does, or that a lock stops, is left for the next run. */
  readonly run: (round: number) => Promise<unknown>;
  /** Rounds from one run to the next, unless it fails. Default: 1. */
  readonly every?: number;
}

/** Runs tasks in rounds, and remembers which of them fail. Each can fail independently. */
export class TaskRunner {
  private readonly logger = new Logger('Maintenance');
  /** The tasks whose latest run failed, each with whether that is a fault. */
  private readonly failing = new Map<Task, boolean>();

  constructor(
    private readonly schemaDoubt: SchemaDoubt,
    private readonly unavailable: UnavailableResources,
  ) {}

  /** Whether a task fails on a database that works, as if it lacks what the task needs. */
  get hasFault(): boolean {
    return [...this.failing.values()].includes(true);
  }

  /** The number of tasks of a resource whose latest run failed. */
  failuresOf(resource: string): number {
    return [...this.failing.keys()].filter((task) => task.resource === resource).length;
  }

  /**
   * Runs rounds until `signal` is aborted.
   *
   * @param period milliseconds between two rounds
   * @param onRound called after each round with whether every task succeeded
   */
  async repeat(
    tasks: readonly Task[],
    period: number,
    signal: AbortSignal,
    onRound?: (succeeded: boolean) => void,
  ): Promise<void> {
    for (let round = 0; !signal.aborted; round += 1) {
      const began = performance.now();
      const succeeded = await this.round(tasks, round);
      onRound?.(succeeded);
      // A failed round is repeated soon, but one that takes long not at once: until it succeeds, the metrics and
      // `/health/ready` say that it fails.
      const soon = Math.max(PERIOD, performance.now() - began);
      const pause = succeeded ? period : Math.min(period, soon);
      await sleep(pause, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Runs the tasks that are due. Returns false if any failed. */
  private async round(tasks: readonly Task[], round: number): Promise<boolean> {
    let succeeded = true;
    for (const task of tasks) {
      const { name, resource, run, every = 1 } = task;
      if (round % every !== 0 && !this.failing.has(task)) continue;
      // Its lock would hold up the tasks of the others.
      if (resource !== undefined && this.unavailable.loading.includes(resource)) continue;
      try {
        await run(round);
        if (this.failing.delete(task)) this.logger.warn(`Maintenance of ${name} works again`);
      } catch (error) {
        succeeded = false;
        // Log the first failure only, not one per round.
        if (!this.failing.has(task)) {
          this.logger.warn(`Maintenance of ${name} fails: ${(error as Error).message}`);
        }
        // Before a request notices.
        void this.schemaDoubt.explains(error);
        const failure = databaseFailure(error);
        this.failing.set(task, failure === undefined);
        // Without the database the other tasks would only wait and fail too.
        if (failure === 'unreachable') break;
      }
    }
    return succeeded;
  }
}
