import type { Client } from 'pg';
import type { EntityMetadata } from 'typeorm';
import { isLockTimeout } from '../database/database-failure.js';
import type { ReservedConnections } from '../database/reserved-connections.js';
import { nameOf } from '../resource/resource.js';
import { excludeWriters, tallyLock } from './maintain.js';
import type { WordTally } from './described-tally.js';
import { recountOf } from './facet.js';

/**
 * Which words are counted, by the statistics of PostgreSQL: the most frequent ones, anywhere and in titles, if enough objects
 * contain them. A search for another word reads few objects. A counted word stays counted until it is much
 * less frequent, so that one near a limit does not come and go.
 */
const CHOSEN = { rank: 200, objects: 5000 };
const RETAINED = { rank: 300, objects: 2500 };
/** Maximum length of a counted word, in characters. A row of an index holds it and a value of a column. */
const MAXIMUM_LENGTH = 100;
/** Milliseconds to wait for the lock of the resource. Writers that arrive meanwhile wait behind it. */
const LOCK_TIMEOUT = 800;

/** A change of a word that is due. `count`: it was added, but its objects were not counted yet. */
interface DueChange {
  readonly word: string;
  readonly kind: 'add' | 'count' | 'drop';
}

/**
 * Chooses the words that a tally counts, and counts the objects that contain them. Several instances may
 * run at a time; an advisory lock admits one of them.
 */
export class CountedWords {
  constructor(
    private readonly connections: ReservedConnections,
    private readonly metadata: EntityMetadata,
    private readonly tally: WordTally,
  ) {}

  /**
   * Changes the counted words as the statistics suggest.
   *
   * @param signal cancels it
   * @returns false if it did not complete: another instance was running, a lock timed out, or `signal`
   * was aborted
   */
  async run(signal?: AbortSignal): Promise<boolean> {
    const dataSource = await this.connections.connected();
    const due = await dataSource.query<DueChange[]>(...this.dueChanges());
    if (due.length === 0) return true;
    return this.connections.withoutTimeLimit(async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_lock(hashtext($1)) AS free',
        [`words of ${this.metadata.tableName}`],
      );
      return rows[0]?.free === true && this.apply(client);
    }, signal);
  }

  /** The caller holds the advisory lock. */
  private async apply(client: Client): Promise<boolean> {
    const { rows } = await client.query<DueChange>(...this.dueChanges());
    const wordsTo = (kind: DueChange['kind']): string[] =>
      rows.filter((row) => row.kind === kind).map(({ word }) => word);
    const [dropped, added, uncounted] = [wordsTo('drop'), wordsTo('add'), wordsTo('count')];
    if (dropped.length > 0) await this.drop(client, dropped);
    if (added.length > 0 && !(await this.add(client, added))) return false;
    if (added.length + uncounted.length > 0) await this.count(client);
    return true;
  }

  /**
   * Stops counting words. A writer that still sees one may record it later. Such rows are not read, and if
   * the word is added again, its count takes them off.
   */
  private async drop(client: Client, dropped: readonly string[]): Promise<void> {
    const { tally, deltas, words } = this.tally;
    await client.query(`DELETE FROM ${words} WHERE word = ANY($1)`, [dropped]);
    await client.query('BEGIN');
    // A fold locks the same rows in another order, so that both would deadlock.
    await client.query('SELECT pg_advisory_xact_lock(hashtext($1))', [
      tallyLock(nameOf(this.metadata)),
    ]);
    for (const table of [tally, deltas]) {
      await client.query(`DELETE FROM ${table} WHERE word NOT IN (SELECT word FROM ${words})`);
    }
    await client.query('COMMIT');
  }

  /** Makes every later writer record the words. Returns false if the lock timed out. */
  private async add(client: Client, added: readonly string[]): Promise<boolean> {
    const { tableName } = this.metadata;
    try {
      await client.query('BEGIN');
      // Writers that do not see the words must have ended before the objects are counted.
      await client.query(excludeWriters(tableName, LOCK_TIMEOUT));
      await client.query(`INSERT INTO ${this.tally.words} (word) SELECT unnest($1::text[])`, [
        added,
      ]);
      await client.query('COMMIT');
      return true;
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      return false;
    }
  }

  /**
   * Counts the objects with each uncounted word, while writers go on. Takes off what they have recorded by
   * the snapshot of the count.
   */
  private async count(client: Client): Promise<void> {
    const { tally, deltas, words } = this.tally;
    const uncounted = `(SELECT word FROM ${words} WHERE NOT is_counted) uncounted`;
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
    await client.query(`LOCK TABLE "${this.metadata.tableName}" IN ACCESS SHARE MODE`);
    // For the sums of every word and value: 200,000 took 20 MB.
    await client.query(`SET LOCAL work_mem = '256MB'`);
    const { rows } = await client.query<{ recount: string }>(...recountOf(this.tally, false));
    await client.query(
      `INSERT INTO ${deltas} (word, facet, count)
       SELECT word, facet, sum(total) FROM (
         SELECT * FROM (${rows[0]?.recount ?? ''}) recount(word, facet, total)
         UNION ALL SELECT word, facet, -count FROM ${tally} JOIN ${uncounted} USING (word)
         UNION ALL SELECT word, facet, -count FROM ${deltas} JOIN ${uncounted} USING (word)
       ) every GROUP BY word, facet HAVING sum(total) <> 0`,
    );
    await client.query(`UPDATE ${words} SET is_counted = true WHERE NOT is_counted`);
    await client.query('COMMIT');
  }

  /** A query of the changes that are due, as `DueChange`, and its parameter values. */
  private dueChanges(): [text: string, values: unknown[]] {
    const text = `WITH statistics AS (
        SELECT most_common_elems::text::text[] AS words, most_common_elem_freqs AS frequencies,
          reltuples * (1 - null_frac) AS objects
        FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
        JOIN pg_stats ON schemaname = nspname AND tablename = relname AND attname = $2
        -- After TRUNCATE it is -1, until the table is analysed.
        WHERE pg_class.oid = $1::regclass AND reltuples >= 0
      ), frequent AS (
        SELECT word, frequency * objects AS objects,
          -- Words of titles, which begin with ^, on their own.
          row_number() OVER (PARTITION BY starts_with(word, '^') ORDER BY frequency DESC, word) AS rank
        FROM statistics, unnest(words, frequencies) AS each(word, frequency)
        -- There are more frequencies than words. The last ones are the minimum and the maximum.
        WHERE word IS NOT NULL AND length(word) <= ${MAXIMUM_LENGTH}
        -- Only searches for beginnings look for these.
        AND NOT starts_with(word, '*') AND NOT starts_with(word, '^*')
      )
      SELECT word, 'add' AS kind FROM frequent LEFT JOIN ${this.tally.words} counted USING (word)
      WHERE counted.word IS NULL AND rank <= ${CHOSEN.rank} AND objects >= ${CHOSEN.objects}
      UNION ALL
      SELECT word, CASE WHEN is_retained THEN 'count' ELSE 'drop' END FROM (
        SELECT word, is_counted, word IN (
          SELECT word FROM frequent WHERE rank <= ${RETAINED.rank} AND objects >= ${RETAINED.objects}
        ) AS is_retained
        FROM ${this.tally.words}
      ) counted
      WHERE EXISTS (SELECT FROM statistics) AND NOT (is_retained AND is_counted)`;
    return [text, [`"${this.metadata.tableName}"`, this.tally.column.databaseName]];
  }
}
