import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource, type EntityMetadata } from 'typeorm';
import { databaseFailure } from '../database/database-failure.js';
import { SchemaDoubt } from '../database/schema-doubt.js';
import { loadingTables } from '../database/installed-resource.js';
import { CHECK_PERIOD, Primary } from '../database/primary.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import { purgeDeletions } from './deletions/deletions.js';
import { UnavailableResources } from './reading/unavailable-resources.js';
import { ownResources } from '../resource/resource.js';
import { CountedWords } from '../tally/counted-words.js';
import { TallyMaintenance } from '../tally/maintain.js';
import { tallyOf } from '../tally/described-tally.js';

/** Minimum milliseconds between two rounds. */
const PERIOD = 1000;
/** Rounds between two purges of old deletions. */
const ROUNDS_PER_PURGE = 600;
/** Rounds between two counts of the deltas, for the metrics. */
const ROUNDS_PER_COUNT = 5;
/** Milliseconds between two choices of the words that are counted. */
const CHOICE_PERIOD = 10_000;
/** Milliseconds between two advances of the watermark in a round, in which most transactions end. */
const PAUSE_OF_WATERMARK = 100;
/** A watermark that is behind by fewer milliseconds needs no further advance in a round. Its margin is 1,000 of them. */
const RECENT_WATERMARK = 1300;
/** Milliseconds after which a command no longer tries again: a lock of others may keep it from its end. */
const LONGEST_COMPLETION = 300_000;

/** A task of maintenance. */
interface Task {
  readonly name: string;
  /** Absent: it is of no single resource. */
  readonly resource?: string;
  /** Work that another instance does, or that a lock stops, is left for the next run. */
  readonly run: (round: number) => Promise<unknown>;
  /** Rounds from one run to the next, unless it fails. Default: 1. */
  readonly every?: number;
}

/**
 * The tasks of maintenance: it looks which resources are loaded, advances the watermark, maintains the tally of every
 * resource, removes old deletions, and chooses the words that are counted. Lists read the deltas of at most about one round.
 * It runs them in rounds, and remembers which of them fail. Each can fail independently.
 */
@Injectable()
export class Maintenance implements OnModuleDestroy {
  /** The numbers of successful and of failed rounds. Choices of words are not counted. */
  readonly rounds = { done: 0, failed: 0 };
  /** The number of deltas that waited to be folded at the latest count, by resource. */
  readonly deltas = new Map<string, number>();
  /** The watermark as `performance.now()`; NaN until it is known. */
  private watermark = NaN;
  private readonly logger = new Logger('Maintenance');
  /** The tasks whose latest run failed, each with whether that is a fault. */
  private readonly failing = new Map<Task, boolean>();
  private readonly stopping = new AbortController();
  private running: Promise<unknown> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly connections: ReservedConnections,
    private readonly schemaDoubt: SchemaDoubt,
    private readonly unavailable: UnavailableResources,
    private readonly primary: Primary,
  ) {}

  /** The number of tasks of each resource whose latest run failed. */
  get failures(): Map<string, number> {
    const failing = [...this.failing.keys()];
    const failuresOf = (name: string): number =>
      failing.filter(({ resource }) => resource === name).length;
    const names = [...ownResources(this.dataSource).keys()];
    return new Map(names.map((name) => [name, failuresOf(name)]));
  }

  /** Whether a task fails on a database that works, as if it lacks what the task needs. */
  get hasFault(): boolean {
    return [...this.failing.values()].includes(true);
  }

  /** Milliseconds by which the watermark is behind the clock of the database; NaN until it is known. */
  get watermarkAge(): number {
    return performance.now() - this.watermark;
  }

  start(): void {
    const checkOfPrimary = {
      name: 'the connection to the primary',
      run: () => this.primary.check(),
    };
    this.running = Promise.all([
      this.repeat(this.tasks(), PERIOD, (succeeded) => {
        this.rounds[succeeded ? 'done' : 'failed'] += 1;
      }),
      // On its own, since a server that does not respond holds up the other tasks.
      this.repeat([checkOfPrimary], CHECK_PERIOD),
      // On its own, since counting words may take minutes.
      this.repeat(this.choices(), CHOICE_PERIOD),
    ]);
  }

  /**
   * Maintains the tally of a resource of which much was written, also beside a service that does the same.
   *
   * @returns false if it was not completed in time
   */
  async complete(resource: string): Promise<boolean> {
    const metadata = ownResources(this.dataSource).get(resource);
    if (!metadata) return true;
    const tally = new TallyMaintenance(await this.connections.connected(), metadata);
    const end = performance.now() + LONGEST_COMPLETION;
    const complete = async (work: { run(): Promise<boolean> }): Promise<boolean> => {
      while (!(await work.run())) {
        if (performance.now() > end) return false;
        await sleep(PERIOD);
      }
      return true;
    };
    // Side by side: ranges and words take about as long.
    const completed = await Promise.all([tally, ...this.countedWordsOf(metadata)].map(complete));
    // Folds the deltas that were written while words were chosen.
    return !completed.includes(false) && complete(tally);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** The tasks of every round. */
  private tasks(): Task[] {
    return [
      { name: 'the list of resources that are loaded', run: () => this.readLoading() },
      { name: 'the watermark', run: () => this.advanceWatermark() },
      ...[...ownResources(this.dataSource)].flatMap((resource) => this.tasksOf(...resource)),
    ];
  }

  private async readLoading(): Promise<void> {
    const tables = [...ownResources(this.dataSource).keys()];
    this.unavailable.loading = await loadingTables(await this.connections.connected(), tables);
  }

  private async advanceWatermark(): Promise<void> {
    const connected = await this.connections.connected();
    // What one call sets, the second one stores and the third one publishes, if the writers of before it have ended.
    for (let call = 0; call < 3; call += 1) {
      if (call > 0) await sleep(PAUSE_OF_WATERMARK);
      // Read first: a database that is read-only refuses the other statement.
      const [row] = await connected.query<{ age: number | null }[]>(
        'SELECT (1000 * extract(epoch FROM clock_timestamp() - current_watermark()::timestamptz))::float8 AS age',
      );
      this.watermark = performance.now() - (row?.age ?? NaN);
      // The calls of other instances do the same.
      if (call > 0 && this.watermarkAge < RECENT_WATERMARK) return;
      await connected.query('SELECT advance_watermark()');
    }
  }

  private tasksOf(resource: string, metadata: EntityMetadata): Task[] {
    const { dataSource } = this.connections;
    const maintenance = new TallyMaintenance(dataSource, metadata);
    const task = (what: string, run: Task['run'], every?: number): Task => ({
      name: `the ${what} of ${resource}`,
      resource,
      run,
      every,
    });
    return [
      task('tally', async (round) => {
        if (round % ROUNDS_PER_COUNT === 0) {
          this.deltas.set(resource, await maintenance.waiting());
        }
        await maintenance.run(this.stopping.signal);
      }),
      task('deletions', () => purgeDeletions(dataSource, metadata), ROUNDS_PER_PURGE),
    ];
  }

  /** The tasks that choose the words that are counted. */
  private choices(): Task[] {
    return [...ownResources(this.dataSource)].flatMap(([resource, metadata]) =>
      this.countedWordsOf(metadata).map((words) => ({
        name: `the words of ${resource}`,
        resource,
        run: () => words.run(this.stopping.signal),
      })),
    );
  }

  private countedWordsOf(metadata: EntityMetadata): CountedWords[] {
    return tallyOf(metadata).byWord.map(
      (tally) => new CountedWords(this.connections, metadata, tally),
    );
  }

  /**
   * Runs rounds until the service stops.
   *
   * @param period milliseconds between two rounds
   * @param onRound called after each round with whether every task succeeded
   */
  private async repeat(
    tasks: readonly Task[],
    period: number,
    onRound?: (succeeded: boolean) => void,
  ): Promise<void> {
    const { signal } = this.stopping;
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
