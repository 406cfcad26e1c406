import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { databaseFailure } from '../database/database-failure.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import { purgeDeletions } from './deletions/purge.js';
import { resourcesOf } from '../resource/resource.js';
import { TallyMaintenance } from './tally/maintain.js';

/** Milliseconds between two rounds. Lists read the deltas of at most about one interval. */
const INTERVAL = 1000;
/** Rounds between two purges of old deletions. */
const ROUNDS_PER_PURGE = 600;

/**
 * Runs periodic maintenance: it advances the watermark, maintains the tally of every resource, and
 * removes old deletions.
 */
@Injectable()
export class Maintenance implements OnModuleDestroy {
  /** The numbers of successful and of failed rounds. */
  readonly rounds = { done: 0, failed: 0 };
  private readonly logger = new Logger(Maintenance.name);
  /** The names of the tasks whose latest run failed. */
  private readonly failing = new Set<string>();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly connections: ReservedConnections,
  ) {}

  start(): void {
    this.running = this.loop();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async loop(): Promise<void> {
    const { signal } = this.stopping;
    const tasks = this.tasks();
    while (!signal.aborted) {
      const succeeded = await this.round(tasks);
      this.rounds[succeeded ? 'done' : 'failed'] += 1;
      await sleep(INTERVAL, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The tasks of a round. Each can fail independently. */
  private tasks(): Task[] {
    const { signal } = this.stopping;
    const { dataSource } = this.connections;
    const watermark = {
      name: 'the watermark',
      run: async (): Promise<unknown> =>
        (await this.connections.connected()).query('SELECT advance_watermark()'),
    };
    const resources = [...resourcesOf(this.dataSource)].flatMap(([resource, metadata]): Task[] => {
      const maintenance = new TallyMaintenance(dataSource, metadata);
      const isDue = () => (this.rounds.done + this.rounds.failed) % ROUNDS_PER_PURGE === 0;
      return [
        { name: `the tally of ${resource}`, run: () => maintenance.run(signal) },
        {
          name: `the deletions of ${resource}`,
          run: () => purgeDeletions(dataSource, resource),
          isDue,
        },
      ];
    });
    return [watermark, ...resources];
  }

  /** Runs the tasks that are due. Returns false if any failed. */
  private async round(tasks: readonly Task[]): Promise<boolean> {
    let succeeded = true;
    for (const { name, run, isDue } of tasks) {
      if (isDue?.() === false && !this.failing.has(name)) continue;
      try {
        await run();
        if (this.failing.delete(name)) this.logger.warn(`The upkeep of ${name} works again`);
      } catch (error) {
        succeeded = false;
        // Log the first failure only, not one per round.
        if (!this.failing.has(name)) {
          this.logger.warn(`The upkeep of ${name} fails: ${(error as Error).message}`);
        }
        this.failing.add(name);
        // Without the database the other tasks would only wait and fail too.
        if (databaseFailure(error) === 'unreachable') break;
      }
    }
    return succeeded;
  }
}

/** A task of a round. */
interface Task {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** Whether the task runs in this round. A failed task runs in any case. Default: every round. */
  readonly isDue?: () => boolean;
}
