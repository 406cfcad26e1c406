import type { Pool } from 'pg';
import type { DataSource, EntityMetadata } from 'typeorm';
import { reading } from '../database/reading.js';
import { Snapshot } from '../database/snapshot.js';
import type { Batch, OpenList, RowFormat } from './serving/listing.js';
import { csvHeader, csvWriter } from './csv.js';
import { fieldsOf } from '../resource/resource.js';
import { known } from './versions.js';

/** What is read of a list, each as a statement with its values. */
export interface ListStatements {
  /** Every object, in the order of the list. */
  readonly objects: readonly [text: string, values: readonly unknown[]];
  /** One row: the count of all that match, and the state of the data. */
  readonly summary: readonly [text: string, values: readonly unknown[]];
  /** Whose version it is. */
  readonly resource: string;
}

/** Objects of the first batch, and the fewest and the most of any other. */
const OBJECTS = { first: 100, least: 1, most: 5000 };
/** Characters that a batch shall have: so much of a list is in memory at a time. */
const BATCH_LENGTH = 200_000;

/**
 * Begins to read a list through a cursor: each batch is a statement of its own, within the time that
 * any query has, and between two of them the database waits for the reader.
 */
export function openList(
  dataSource: DataSource,
  statements: ListStatements,
  format: Pick<Format, 'header' | 'write'>,
  signal: AbortSignal,
): Promise<OpenList> {
  return reading(dataSource, (pool) => openOn(pool, statements, format, signal));
}

async function openOn(
  pool: Pool,
  { objects, summary, resource }: ListStatements,
  format: Pick<Format, 'header' | 'write'>,
  signal: AbortSignal,
): Promise<OpenList> {
  const snapshot = await Snapshot.open(pool, signal);
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= snapshot.close());
  try {
    // Before the tally, so that whoever empties the table never waits for a reader who waits for him.
    await snapshot.rows(`DECLARE list NO SCROLL CURSOR FOR ${objects[0]}`, objects[1]);
    const [[count, version, until = null] = []] = await snapshot.rows(...summary);
    // Read before anything is sent: what is wrong with the query is found here.
    const first = await fetch(snapshot, OBJECTS.first);
    const batches = batchesOf(snapshot, first, format);
    return { count: count ?? '', version: known(version, resource), until, batches, close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Rows = (string | null)[][];

function fetch(snapshot: Snapshot, objects: number): Promise<Rows> {
  return snapshot.rows(`FETCH ${objects} FROM list`);
}

async function* batchesOf(
  snapshot: Snapshot,
  first: Rows,
  { header, write }: Pick<Format, 'header' | 'write'>,
): AsyncGenerator<Batch> {
  let rows = first;
  let wanted: number = OBJECTS.first;
  let text = header + write(rows);
  for (;;) {
    yield { rows: rows.length, text };
    if (rows.length < wanted) return;
    const fitting = Math.round((wanted * BATCH_LENGTH) / text.length);
    wanted = Math.max(OBJECTS.least, Math.min(fitting, 4 * wanted, OBJECTS.most));
    rows = await fetch(snapshot, wanted);
    if (rows.length === 0) return;
    text = write(rows);
  }
}

/** How objects are selected and written. */
interface Format {
  readonly header: string;
  /** Around a query for objects. */
  readonly select: (query: string) => string;
  readonly write: (rows: Rows) => string;
}

/** @param fields those that are selected, all unless given */
export function rowFormat(
  name: RowFormat,
  metadata: EntityMetadata,
  fields: readonly string[] | undefined,
): Format {
  if (name === 'ndjson') {
    return {
      header: '',
      // As in a page, to the byte.
      select: (query) => `SELECT row_to_json("#page")::text FROM (${query}) "#page"`,
      write: (rows) => rows.map(([object]) => `${object}\n`).join(''),
    };
  }
  const columns = fieldsOf(metadata).filter(
    ({ propertyName }) => !fields || fields.includes(propertyName),
  );
  const texts = columns.map(({ propertyName }) => `"${propertyName}"::text`).join(', ');
  const line = csvWriter(columns);
  return {
    header: csvHeader(columns),
    select: (query) => `SELECT ${texts} FROM (${query}) "#page"`,
    write: (rows) => rows.map(line).join(''),
  };
}
