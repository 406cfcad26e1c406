import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { databaseFailure } from '../database/database-failure.js';
import { loadingTables } from '../database/loading.js';
import { ReservedConnections } from '../database/reserved-connections.js';
import { SchemaDoubt } from '../database/schema-doubt.js';
import { purgeDeletions } from './deletions/purge.js';
import { LoadingResources } from './reading/loading-resources.js';
import { isOwn, ownResourcesOf, talliedResourcesOf } from '../resource/resource.js';
import { CountedWords } from './tally/counted-words.js';
import { TallyMaintenance } from './tally/maintain.js';
import { checkTracking } from './tally/tracking.js';
import { wordTallies } from './tally/word-tally.js';

/** Milliseconds between two rounds. Lists read the deltas of at most about one interval. */
const INTERVAL = 1000;
/** Rounds between two purges of old deletions. */
const ROUNDS_PER_PURGE = 600;
/** Rounds between two counts of the deltas, for the metrics. */
const ROUNDS_PER_COUNT = 5;
/** Milliseconds between two choices of the words that are counted. */
const CHOICE_INTERVAL = 10_000;
/** Milliseconds after which a command no longer tries again: a lock of others may keep it from its end. */
const LONGEST_COMPLETION = 300_000;

/**
 * Runs periodic maintenance: it looks which resources are loaded, advances the watermark, maintains the tally of every
 * resource, removes old deletions, and chooses the words that are counted.
 */
@Injectable()
export class Maintenance implements OnModuleDestroy {
  /** The numbers of successful and of failed rounds. Choices of words are not counted. */
  readonly rounds = { done: 0, failed: 0 };
  /** The number of deltas that waited to be folded at the latest count, by resource. */
  readonly deltas = new Map<string, number>();
  /** The age of the watermark in milliseconds, and the `performance.now()` at which it was that old. */
  private watermark = { age: NaN, at: 0 };
  private readonly logger = new Logger(Maintenance.name);
  /** The tasks whose latest run failed, by name. */
  private readonly failing = new Map<string, Failure>();
  private readonly stopping = new AbortController();
  private running: Promise<unknown> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly connections: ReservedConnections,
    private readonly schemaDoubt: SchemaDoubt,
    private readonly loading: LoadingResources,
  ) {}

  /** The number of tasks of each resource whose latest run failed. */
  get failures(): Map<string, number> {
    const failures = new Map(
      [...talliedResourcesOf(this.dataSource).keys()].map((name) => [name, 0]),
    );
    for (const { resource } of this.failing.values()) {
      if (resource !== undefined) failures.set(resource, (failures.get(resource) ?? 0) + 1);
    }
    return failures;
  }

  /** Whether a task fails on a database that works, as if it lacks what the task needs. */
  get hasFault(): boolean {
    return [...this.failing.values()].some(({ isFault }) => isFault);
  }

  /** Milliseconds by which the watermark is behind the clock of the database; NaN until it is known. */
  get watermarkAge(): number {
    const { age, at } = this.watermark;
    return age + performance.now() - at;
  }

  start(): void {
    this.running = Promise.all([
      this.loop(this.tasks(), INTERVAL, (succeeded) => {
        this.rounds[succeeded ? 'done' : 'failed'] += 1;
      }),
      // On its own, since counting words may take minutes.
      this.loop(this.choices(), CHOICE_INTERVAL),
    ]);
  }

  /**
   * Runs what is due for a resource of which much was written, also beside a service that does the same.
   *
   * @returns false if it was not completed in time
   */
  async complete(resource: string): Promise<boolean> {
    await this.connections.connected();
    const end = performance.now() + LONGEST_COMPLETION;
    const complete = async (tasks: readonly Task[]): Promise<boolean> => {
      for (const { run } of tasks.filter((task) => task.resource === resource)) {
        for (let round = 0; (await run(round)) === false; round += 1) {
          if (performance.now() > end) return false;
          await sleep(INTERVAL);
        }
      }
      return true;
    };
    const tasks = this.tasks();
    // Side by side: ranges and words take about as long.
    const completed = await Promise.all([complete(tasks), complete(this.choices())]);
    // Folds the deltas that were written while words were chosen.
    return !completed.includes(false) && complete(tasks);
  }

  async onModuleDestroy(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async loop(
    tasks: readonly Task[],
    interval: number,
    onRound?: (succeeded: boolean) => void,
  ): Promise<void> {
    const { signal } = this.stopping;
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

  /** The tasks of a round. Each can fail independently. */
  private tasks(): Task[] {
    const { signal } = this.stopping;
    const { dataSource } = this.connections;
    const watermark = {
      name: 'the watermark',
      run: async (): Promise<void> => {
        const connected = await this.connections.connected();
        // Read first: a database that is read-only refuses the other statement.
        const [row] = await connected.query<{ age: number | null }[]>(
          'SELECT (1000 * extract(epoch FROM clock_timestamp() - current_watermark()))::float8 AS age',
        );
        if (row) this.watermark = { age: row.age ?? NaN, at: performance.now() };
        await connected.query('SELECT advance_watermark()');
      },
    };
    const loading = {
      name: 'the list of resources that are loaded',
      run: async (): Promise<void> => {
        const tables = [...ownResourcesOf(this.dataSource).keys()];
        this.loading.replace(await loadingTables(await this.connections.connected(), tables));
      },
    };
    const resources = [...talliedResourcesOf(this.dataSource)].flatMap(
      ([resource, metadata]): Task[] => {
        const maintenance = new TallyMaintenance(dataSource, metadata);
        const tally: Task = {
          name: `the tally of ${resource}`,
          resource,
          run: async (round): Promise<boolean> => {
            if (round % ROUNDS_PER_COUNT === 0) {
              this.deltas.set(resource, await maintenance.waiting());
            }
            return maintenance.run(signal);
          },
        };
        const deletions: Task = {
          name: `the deletions of ${resource}`,
          resource,
          run: () => purgeDeletions(dataSource, metadata),
          isDue: (round) => round % ROUNDS_PER_PURGE === 0,
        };
        if (isOwn(metadata)) return [tally, deletions];
        const run = () => checkTracking(dataSource, resource);
        return [{ name: `the triggers of ${resource}`, resource, run }, tally, deletions];
      },
    );
    return [loading, watermark, ...resources];
  }

  /** The tasks that choose the words that are counted. */
  private choices(): Task[] {
    return [...ownResourcesOf(this.dataSource)].flatMap(([resource, metadata]) =>
      wordTallies(metadata).map((tally) => {
        const words = new CountedWords(this.connections, metadata, tally);
        const run = () => words.run(this.stopping.signal);
        return { name: `the words of ${resource}`, resource, run };
      }),
    );
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

interface Failure {
  readonly resource: string | undefined;
  readonly isFault: boolean;
}

/** A task of a round. */
interface Task {
  readonly name: string;
  /** Absent: it is of no single resource. */
  readonly resource?: string;
  /** Returns false if it has to run again soon. */
  readonly run: (round: number) => Promise<unknown>;
  /** Whether the task runs in this round. A failed task runs in any case. Default: every round. */
  readonly isDue?: (round: number) => boolean;
}
