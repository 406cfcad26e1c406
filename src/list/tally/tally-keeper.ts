import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { Upkeep } from '../../database/upkeep.js';
import { purgeDeletions } from '../deletions/purge.js';
import { resourcesOf } from '../resource.js';
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
    const resources = resourcesOf(this.dataSource);
    const maintenances = [...resources.values()].map(
      (metadata) => new TallyMaintenance(this.upkeep.dataSource, metadata),
    );
    let failing = false;
    while (!signal.aborted) {
      try {
        const dataSource = await this.upkeep.connected();
        await dataSource.query('SELECT advance_watermark()');
        if (this.rounds.done % PURGE_EVERY === 0) {
          await purgeDeletions(dataSource, resources.keys());
        }
        for (const maintenance of maintenances) await maintenance.run(signal);
        failing = false;
        this.rounds.done += 1;
      } catch (error) {
        // Once, not every second for as long as the database is away.
        if (!failing) this.logger.warn(`The tallies wait: ${(error as Error).message}`);
        failing = true;
        this.rounds.failed += 1;
      }
      await sleep(EVERY, undefined, { signal }).catch(() => undefined);
    }
  }
}
