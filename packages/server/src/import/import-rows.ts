import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { PoolClient } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import type { EntityMetadata, QueryRunner } from 'typeorm';
import { driverErrorOf } from '../database/database-failure.js';
import { hasRows } from '../database/installed-resource.js';
import { findCycle, parentColumnOf } from '../resource/relations.js';
import { CommandError } from '../command-error.js';
import type { Mapping } from './columns.js';
import type { FileRow } from './file-rows.js';
import { InvalidRowsError, MAX_PROBLEMS, type Problem } from './invalid-rows.js';
import { Staging } from './staging.js';
import { type Check, STAGING, Statements } from './statements.js';
import { lockIfSmall, writeWithoutIndexes } from './without-indexes.js';

/** Minimum rows for which the indexes of a table are dropped and built again. Fewer take about a second. */
const BULK = 5000;
/** Their minimum for each object of the table: its readers are locked out, so it must be worth it. */
const ROWS_PER_OBJECT = 10;

interface ImportOptions extends Mapping {
  /** Whether objects that are not in the file are deleted. */
  readonly replace: boolean;
  /** Whether `replace` may delete more than a fifth of the objects. */
  readonly allowDeletes?: boolean;
  /** Whether the caller rolls back. */
  readonly dryRun?: boolean;
  /** Whether an identifier may have characters that are not seen. */
  readonly allowInvisible?: boolean;
}

/** The number of objects by outcome. */
export interface ImportResult {
  readonly inserted: number;
  readonly updated: number;
  readonly unchanged: number;
  readonly deleted: number;
  /** Columns of the file that were ignored. */
  readonly leftOut: readonly string[];
}

/**
 * Inserts or updates the objects of a resource by identifier, in the open transaction of the runner: COPY into a
 * staging table, checks of the staged rows, one upsert. Fields without a value in a row do not change. Imports of the
 * same resource run one after another. A table that is empty, or small beside the file, may be locked from the checks on.
 *
 * @throws InvalidRowsError if rows are invalid; CommandError for any other problem. The caller must roll back.
 */
export async function importRows(
  runner: QueryRunner,
  metadata: EntityMetadata,
  batches: AsyncIterable<readonly FileRow[]>,
  options: ImportOptions,
): Promise<ImportResult> {
  await runner.query('SET LOCAL statement_timeout = 0');
  // A command that is killed leaves no statement behind that holds its locks.
  await runner.query(`SET LOCAL client_connection_check_interval = '1s'`);
  // To sort and compare all rows.
  await runner.query(`SET LOCAL work_mem = '128MB'`);
  await runner.query('SELECT pg_advisory_xact_lock(hashtext($1))', [
    `import ${metadata.tableName}`,
  ]);
  const table = `"${metadata.tableName}"`;
  // Behind the lock, so that it sees the objects of an import before.
  if (options.number && !options.replace) await checkUnnumbered(runner, table);
  const staging = await stage(runner, metadata, batches, options);
  const statements = new Statements(
    runner.dataSource,
    metadata,
    staging.presence(),
    options.replace,
  );
  // Before the checks, so that services know of it when readers are locked out.
  // A dry run locks no readers out. With `replace`, deletions cascade to the tables that refer to this one: they would wait
  // for an import into such a table, which waits for the lock on this one.
  const most = options.dryRun || options.replace ? 0 : Math.floor(staging.rows / ROWS_PER_OBJECT);
  const isLocked = staging.rows >= BULK && (await lockIfSmall(runner, table, most));
  const problems = [...staging.problems];
  for (const check of statements.checks()) {
    // A check that needs all rows would report references to rows that were not read.
    if (!(staging.truncated && check.needsAllRows))
      problems.push(...(await violations(runner, check, options)));
  }
  if (problems.length > 0) throw new InvalidRowsError(problems);
  if (options.replace && !options.allowDeletes) await checkDeletions(runner, statements);
  const write = async (): Promise<Counts> => {
    const [counts] = await runner.manager.query<[Counts]>(statements.upsert());
    return counts;
  };
  const loaded = isLocked ? await writeWithoutIndexes(runner, table, write) : undefined;
  const { inserted, updated } = loaded ?? (await write());
  const deleted = options.replace ? await remove(runner, statements.deletion()) : 0;
  await runner.query(`DROP TABLE ${STAGING}`);
  const circle = await findCycle(runner.manager, metadata);
  if (circle.length > 0) {
    const field = parentColumnOf(metadata) ?? '';
    throw new CommandError(
      `Nothing was loaded: these would be below themselves by ${field}: ${circle.join(', ')}`,
    );
  }
  return {
    inserted: Number(inserted),
    updated: Number(updated),
    unchanged: staging.rows - Number(inserted) - Number(updated),
    deleted,
    leftOut: [...staging.leftOut],
  };
}

type Counts = Record<'inserted' | 'updated', string>;

async function checkUnnumbered(runner: QueryRunner, table: string): Promise<void> {
  if (!(await hasRows(runner.manager, table))) return;
  throw new CommandError(
    `--number would overwrite objects of ${table.replaceAll('"', '')} with the rows of these numbers: add --replace if the file has all of them`,
  );
}

/** Reads the rows of a file into the staging table. */
async function stage(
  runner: QueryRunner,
  metadata: EntityMetadata,
  batches: AsyncIterable<readonly FileRow[]>,
  options: ImportOptions,
): Promise<Staging> {
  const staging = new Staging(metadata, options, options.allowInvisible);
  await runner.query(Statements.createStaging(metadata));
  // The connection of the query runner is a client of node-postgres, which supports COPY.
  const client = (await runner.connect()) as PoolClient;
  await pipeline(
    Readable.from(staging.copy(batches)),
    client.query(copyFrom(`COPY ${STAGING} FROM STDIN`)),
  );
  if (options.replace && staging.rows === 0) {
    throw new CommandError('The file has no row, and with --replace it would delete everything');
  }
  await runner.query(`ANALYZE ${STAGING}`);
  return staging;
}

async function violations(runner: QueryRunner, check: Check, { map }: Mapping): Promise<Problem[]> {
  const rows = await runner.manager.query<{ line: string; value: string }[]>(
    `${check.query} ORDER BY 1 LIMIT ${MAX_PROBLEMS}`,
  );
  const { field } = check;
  const column = field === undefined ? undefined : (map.get(field) ?? field);
  return rows.map(({ line, value }) => {
    return { line: Number(line), column, message: check.message(value) };
  });
}

/** A file that ended early, as that of a broken pipe, is not told from one that lacks objects. */
async function checkDeletions(runner: QueryRunner, statements: Statements): Promise<void> {
  const [{ deleted, all }] = await runner.manager.query<[Record<'deleted' | 'all', string>]>(
    statements.deletions(),
  );
  if (Number(deleted) * 5 <= Number(all)) return;
  throw new CommandError(
    `Nothing was loaded: the file lacks ${deleted} of ${all} objects, which is more than a fifth; --allow-deletes deletes them`,
  );
}

async function remove(runner: QueryRunner, statement: string): Promise<number> {
  try {
    const [{ deleted }] = await runner.manager.query<[{ deleted: string }]>(statement);
    return Number(deleted);
  } catch (error) {
    const { code, detail = '' } = driverErrorOf(error);
    // https://www.postgresql.org/docs/current/errcodes-appendix.html: foreign_key_violation
    if (code !== '23503') throw error;
    throw new CommandError(
      `Nothing was loaded: an object that the file lacks is in use. ${detail}`,
    );
  }
}
