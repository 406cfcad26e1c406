import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { differences, lineOf } from './differences.js';
import { Maintenance } from '../list/maintenance.js';
import { WithheldLists } from '../list/withheld-lists.js';

/** Milliseconds between two checks while the database does not match, or maintenance fails. */
const CHECK_INTERVAL = 3000;

/**
 * Compares the database with the entities at the start, and repeats this until they match, and later
 * while maintenance fails. Where they do not match, the service is not ready, and lists that could be wrong
 * get the error response `-2`. A later change that maintenance does not meet is not detected;
 * `catalogue verify` reports it.
 */
@Injectable()
export class SchemaCheck implements OnModuleDestroy {
  private isPassed = true;
  /** The last logged lines. */
  private logged = '';
  private readonly logger = new Logger(SchemaCheck.name);
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly lists: WithheldLists,
    private readonly maintenance: Maintenance,
  ) {}

  /** Whether the last check found that the database matches the entities. True before `start`. */
  get passed(): boolean {
    return this.isPassed;
  }

  /** Runs the first check, and resolves after it. Repeats it in the background where that is needed. */
  async start(): Promise<void> {
    this.isPassed = false;
    this.lists.withhold(() => true);
    await this.check();
    this.running = this.repeat();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      await sleep(CHECK_INTERVAL, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (!this.isPassed || this.maintenance.hasFault) await this.check();
    }
  }

  private async check(): Promise<void> {
    try {
      const found = await differences(this.dataSource);
      const wrong = found.filter(({ isSurplus }) => !isSurplus);
      const resources = new Set(wrong.map(({ resource }) => resource));
      this.lists.withhold((resource) => resources.has(resource));
      this.isPassed = wrong.length === 0;
      this.log(wrong.map(lineOf));
    } catch (error) {
      this.log([`it cannot be compared: ${(error as Error).message}`]);
    }
  }

  /** Logs the differences if they have changed since the last check. */
  private log(lines: readonly string[]): void {
    const text = lines.join('\n');
    if (text === this.logged) return;
    this.logged = text;
    for (const line of lines)
      this.logger.error(`The database does not match the entities: ${line}`);
    if (lines.length === 0) this.logger.warn('The database matches the entities again');
  }
}
