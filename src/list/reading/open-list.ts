import type { Pool } from 'pg';
import type { ApiError } from '../../http/errors.js';
import { Snapshot } from '../../database/snapshot.js';
import type { Batch, OpenList } from './prepared-list.js';
import type { Rows, RowWriter } from './row-writer.js';
import { requireVersion } from './versions.js';

/** The statements that read a whole list, each with its parameter values. */
export interface ListStatements {
  /** Selects every object, in the order of the list. */
  readonly objects: readonly [text: string, values: readonly unknown[]];
  /** Selects one row: the count of all matching objects, and the state of the data. */
  readonly summary: readonly [text: string, values: readonly unknown[]];
  /** The resources that the state belongs to. */
  readonly resources: readonly string[];
  /** Selects a row if there is the object behind which the list begins, and the error if there is none. */
  readonly after?: {
    readonly statement: readonly [text: string, values: readonly unknown[]];
    readonly error: ApiError;
  };
}

/** The number of objects that are fetched at first, and the bounds for later. */
const OBJECTS = { first: 100, minimum: 1, maximum: 5000 };
/**
 * The target size of what is fetched at once, in characters. It is all that a list has in memory. All other
 * requests wait while it is parsed and converted to text.
 */
const FETCHED_LENGTH = 50_000;

/**
 * Opens a list with a cursor and reads its first objects. Each fetch is one statement, so the query
 * timeout applies to a fetch and not to the list.
 *
 * @param signal cancels the query in progress
 */
export async function openList(
  pool: Pool,
  { objects, summary, resources, after }: ListStatements,
  writer: RowWriter,
  signal: AbortSignal,
): Promise<OpenList> {
  const snapshot = await Snapshot.open(pool, signal);
  try {
    // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
    await snapshot.rows(`DECLARE list NO SCROLL CURSOR FOR ${objects[0]}`, objects[1]);
    if (after && (await snapshot.rows(...after.statement)).length === 0) throw after.error;
    const [[count, version, until = null] = []] = await snapshot.rows(...summary);
    // Read before the response begins, so that an error of the query still yields an envelope.
    const first = await fetchRows(snapshot, OBJECTS.first);
    return {
      count: count ?? '',
      version: requireVersion(version, resources),
      until,
      batches: batchesOf(snapshot, first, writer),
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

function fetchRows(snapshot: Snapshot, objects: number): Promise<Rows> {
  return snapshot.rows(`FETCH ${objects} FROM list`);
}

async function* batchesOf(
  snapshot: Snapshot,
  first: Rows,
  { header, write }: RowWriter,
): AsyncGenerator<Batch> {
  let rows = first;
  let wanted: number = OBJECTS.first;
  for (let before = header; ; before = '') {
    const text = before + write(rows);
    // An empty list may have a header.
    if (text !== '') yield { rows: rows.length, text };
    if (rows.length < wanted) return;
    const fitting = Math.round((wanted * FETCHED_LENGTH) / text.length);
    wanted = Math.max(OBJECTS.minimum, Math.min(fitting, 4 * wanted, OBJECTS.maximum));
    rows = await fetchRows(snapshot, wanted);
  }
}
