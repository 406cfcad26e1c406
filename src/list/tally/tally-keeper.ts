import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { databaseFailure } from '../../database/database-failure.js';
import { Upkeep } from '../../database/upkeep.js';
import { purgeDeletions } from '../deletions/purge.js';
import { resourcesOf } from '../../resource/resource.js';
import { TallyMaintenance } from './maintain.js';

/** Milliseconds between two rounds: a list adds up the deltas that came since the last one. */
const EVERY = 1000;
/** Rounds of which one looks for what is to be forgotten. */
const PURGE_EVERY = 600;

/** Keeps the tallies of all resources small and the watermark near the present, beside the requests, for as long as the service runs. */
@Injectable()
export class TallyKeeper implements OnModuleDestroy {
  /** How often it has been round, and how often in vain. */
  readonly rounds = { done: 0, failed: 0 };
  private readonly logger = new Logger(TallyKeeper.name);
  /** The names of what failed when it was tried last. */
  private readonly failing = new Set<string>();
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly upkeep: Upkeep,
  ) {}

  start(): void {
    this.running = this.keep();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async keep(): Promise<void> {
    const { signal } = this.stopping;
    const tasks = this.tasks();
    while (!signal.aborted) {
      const isDone = await this.round(tasks);
      this.rounds[isDone ? 'done' : 'failed'] += 1;
      await sleep(EVERY, undefined, { signal }).catch(() => undefined);
    }
  }

  /** The parts of a round, of which each may fail by itself. */
  private tasks(): Task[] {
    const { signal } = this.stopping;
    const { dataSource } = this.upkeep;
    const watermark = {
      name: 'the watermark',
      run: async (): Promise<unknown> =>
        (await this.upkeep.connected()).query('SELECT advance_watermark()'),
    };
    const resources = [...resourcesOf(this.dataSource)].flatMap(([resource, metadata]): Task[] => {
      const maintenance = new TallyMaintenance(dataSource, metadata);
      const isDue = () => (this.rounds.done + this.rounds.failed) % PURGE_EVERY === 0;
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

  /** Does what is due; false if any of it failed. */
  private async round(tasks: readonly Task[]): Promise<boolean> {
    let isDone = true;
    for (const { name, run, isDue } of tasks) {
      if (isDue?.() === false && !this.failing.has(name)) continue;
      try {
        await run();
        if (this.failing.delete(name)) this.logger.warn(`The upkeep of ${name} works again`);
      } catch (error) {
        isDone = false;
        // Once, not every second for as long as it fails.
        if (!this.failing.has(name)) {
          this.logger.warn(`The upkeep of ${name} fails: ${(error as Error).message}`);
        }
        this.failing.add(name);
        // Without the database the others would only wait for it as well.
        if (databaseFailure(error) === 'unreachable') break;
      }
    }
    return isDone;
  }
}

/** A part of a round. */
interface Task {
  readonly name: string;
  readonly run: () => Promise<unknown>;
  /** Whether it is to be done in this round, if it did not fail before; in every one if not given. */
  readonly isDue?: () => boolean;
}
