import type { Client } from 'pg';
import type { EntityMetadata } from 'typeorm';
import { driverErrorOf } from '../../database/database-failure.js';
import type { ReservedConnections } from '../../database/reserved-connections.js';
import type { WordTally } from './word-tally.js';

/**
 * Which words are counted, by the statistics of PostgreSQL: the most frequent ones, if enough objects
 * contain them. A search for another word reads few objects. A counted word stays counted until it is much
 * less frequent, so that one near a limit does not come and go.
 */
const CHOSEN = { rank: 200, objects: 5000 };
const KEPT = { rank: 300, objects: 2500 };
/** Maximum length of a counted word, in characters. A row of an index holds it and a value of a column. */
const MAX_LENGTH = 100;
/** Milliseconds to wait for the lock of the resource. Writers that arrive meanwhile wait behind it. */
const LOCK_TIMEOUT = 800;

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
    const changes = await dataSource.query<Change[]>(...this.changes());
    if (changes.length === 0) return true;
    return this.connections.withoutTimeLimit(async (client) => {
      const { rows } = await client.query<{ free: boolean }>(
        'SELECT pg_try_advisory_lock(hashtext($1)) AS free',
        [`words of ${this.metadata.tableName}`],
      );
      return rows[0]?.free === true && this.change(client);
    }, signal);
  }

  /** The caller holds the advisory lock. Its connection is not used again. */
  private async change(client: Client): Promise<boolean> {
    const { tally, deltas, words } = this.tally;
    const { rows } = await client.query<Change>(...this.changes());
    const wordsOf = (change: Change['change']): string[] =>
      rows.filter((row) => row.change === change).map(({ word }) => word);
    const dropped = wordsOf('drop');
    if (dropped.length > 0) {
      await client.query(`DELETE FROM ${words} WHERE word = ANY($1)`, [dropped]);
      for (const table of [tally, deltas]) {
        await client.query(`DELETE FROM ${table} WHERE word NOT IN (SELECT word FROM ${words})`);
      }
    }
    if (rows.length === dropped.length) return true;
    if (!(await this.add(client, wordsOf('add')))) return false;
    await this.count(client);
    return true;
  }

  /** Makes every later writer record the words. Returns false if the lock timed out. */
  private async add(client: Client, added: readonly string[]): Promise<boolean> {
    const { tableName } = this.metadata;
    try {
      await client.query('BEGIN');
      await client.query(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT}`);
      // Writers that do not see the words must have ended before the objects are counted.
      await client.query(`LOCK TABLE "${tableName}" IN SHARE MODE`);
      await client.query('UPDATE tallies SET cuts = cuts + 1 WHERE resource = $1', [tableName]);
      await client.query(`INSERT INTO ${this.tally.words} (word) SELECT unnest($1::text[])`, [
        added,
      ]);
      await client.query('COMMIT');
      return true;
    } catch (error) {
      // https://www.postgresql.org/docs/current/errcodes-appendix.html: lock_not_available
      if (driverErrorOf(error).code !== '55P03') throw error;
      return false;
    }
  }

  /**
   * Counts the objects with each new word, without a lock: what writers have recorded by the snapshot of
   * the count is taken off again.
   */
  private async count(client: Client): Promise<void> {
    const { tally, deltas, words, column, counted } = this.tally;
    const uncounted = `(SELECT word FROM ${words} WHERE NOT is_counted) uncounted`;
    const source = `(SELECT *, 1 AS step FROM "${this.metadata.tableName}") object
      CROSS JOIN LATERAL unnest(tsvector_to_array(object."${column}")) lexemes(word)
      JOIN ${uncounted} USING (word)`;
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ');
    await client.query(`SET LOCAL work_mem = '256MB'`);
    const { rows } = await client.query<{ sums: string }>(
      `SELECT tally_sums($1, $2, 'word') AS sums`,
      [['', ...counted], source],
    );
    await client.query(
      `INSERT INTO ${deltas} (word, facet, count)
       SELECT word, facet, sum(total) FROM (
         ${rows[0]?.sums ?? ''}
         UNION ALL SELECT word, facet, -count FROM ${tally} JOIN ${uncounted} USING (word)
         UNION ALL SELECT word, facet, -count FROM ${deltas} JOIN ${uncounted} USING (word)
       ) every GROUP BY word, facet HAVING sum(total) <> 0`,
    );
    await client.query(`UPDATE ${words} SET is_counted = true WHERE NOT is_counted`);
    await client.query('COMMIT');
  }

  /** A query of the changes that are due, as `Change`, and its parameter values. */
  private changes(): [text: string, values: unknown[]] {
    const text = `WITH statistics AS (
        SELECT most_common_elems::text::text[] AS words, most_common_elem_freqs AS frequencies, reltuples
        FROM pg_stats JOIN pg_class ON oid = $1::regclass
        WHERE schemaname = relnamespace::regnamespace::text AND tablename = relname AND attname = $2
      ), frequent AS (
        SELECT word, frequency * reltuples AS objects, row_number() OVER (ORDER BY frequency DESC, word) AS rank
        FROM statistics, unnest(words, frequencies) AS each(word, frequency)
        -- Behind the frequencies are their minimum and their maximum.
        WHERE length(word) <= ${MAX_LENGTH}
      )
      SELECT word, 'add' AS change FROM frequent LEFT JOIN ${this.tally.words} counted USING (word)
      WHERE counted.word IS NULL AND rank <= ${CHOSEN.rank} AND objects >= ${CHOSEN.objects}
      UNION ALL
      SELECT word, CASE WHEN is_kept THEN 'count' ELSE 'drop' END FROM (
        SELECT word, is_counted, word IN (
          SELECT word FROM frequent WHERE rank <= ${KEPT.rank} AND objects >= ${KEPT.objects}
        ) AS is_kept
        FROM ${this.tally.words}
      ) counted
      WHERE EXISTS (SELECT FROM statistics) AND NOT (is_kept AND is_counted)`;
    return [text, [`"${this.metadata.tableName}"`, this.tally.column]];
  }
}

/** A change of a word that is due. `count`: the word was added, but its objects were not counted yet. */
interface Change {
  readonly word: string;
  readonly change: 'add' | 'count' | 'drop';
}
