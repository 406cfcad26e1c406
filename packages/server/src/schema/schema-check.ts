import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { SchemaDoubt } from '../database/schema-doubt.js';
import { ownResources } from '../resource/resource.js';
import { lineOf } from './difference.js';
import { differences } from './differences.js';
import { Maintenance } from '../list/maintenance.js';
import { UnavailableResources } from '../list/reading/unavailable-resources.js';

/** Milliseconds between two checks while the database does not match, or maintenance fails. */
const CHECK_PERIOD = 3000;

/** Milliseconds after a change in which queries may fail that began before it. */
const SETTLING = 10_000;

/** A text that differs when a table was created again. */
const IDENTITY = `SELECT md5(string_agg(oid::text, ',' ORDER BY oid)) AS identity FROM pg_class
  WHERE relkind IN ('r', 'p') AND relnamespace = quote_ident(current_schema())::regnamespace`;

/**
 * Compares the database with the entities at the start until they match, while maintenance fails, and after a query
 * that failed as during a restore. Until they match, the service is not ready, and lists that could be wrong get the
 * error response `-2`. Only `catalogue verify` reports other changes.
 */
@Injectable()
export class SchemaCheck implements OnModuleDestroy {
  private isPassed = true;
  /** The identity of the database at the last comparison. */
  private identity: string | undefined;
  /** The `performance.now()` of the last comparison that found it not whole, or created again. */
  private changedAt = -Infinity;
  /** The last logged lines. */
  private logged = '';
  private readonly logger = new Logger(SchemaCheck.name);
  private readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly unavailable: UnavailableResources,
    private readonly maintenance: Maintenance,
    private readonly doubt: SchemaDoubt,
  ) {}

  /** Whether the last check found that the database matches the entities. True before `start`. */
  get passed(): boolean {
    return this.isPassed;
  }

  /** Runs the first check, and resolves after it. Repeats it in the background where that is needed. */
  async start(): Promise<void> {
    this.isPassed = false;
    this.unavailable.isUnavailable = () => true;
    await this.check();
    this.doubt.check = () => this.hasChanged();
    this.running = this.repeat();
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Checks after a query that failed. Returns true if the schema is not whole, or was not lately. */
  private async hasChanged(): Promise<boolean> {
    if (!(await this.check())) {
      this.isPassed = false;
      this.changedAt = performance.now();
      this.unavailable.isUnavailable = () => true;
      this.doubt.isOpen = true;
    }
    return performance.now() - this.changedAt < SETTLING;
  }

  private async repeat(): Promise<void> {
    const { signal } = this.stopping;
    for (;;) {
      await sleep(CHECK_PERIOD, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      if (!this.isPassed || this.maintenance.hasFault) await this.check();
    }
  }

  /** Returns false if the database cannot be compared. */
  private async check(): Promise<boolean> {
    try {
      const [{ identity }] = await this.dataSource.query<[{ identity: string }]>(IDENTITY);
      const found = await differences(this.dataSource);
      const wrong = found.filter(({ isSurplus }) => !isSurplus);
      const resources = new Set(wrong.map(({ resource }) => resource));
      this.unavailable.isUnavailable = (resource) => resources.has(resource);
      this.isPassed = wrong.length === 0;
      const isSame = (this.identity ??= identity) === identity;
      if (!isSame || !this.isPassed) this.changedAt = performance.now();
      this.identity = identity;
      const own = [...ownResources(this.dataSource).keys()];
      this.doubt.isOpen = own.length > 0 && own.every((resource) => resources.has(resource));
      this.log(wrong.map(lineOf));
      return true;
    } catch (error) {
      this.log([`it cannot be compared: ${(error as Error).message}`]);
      return false;
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
