import type { Pool } from 'pg';
import { NO_LIMIT } from '../../database/planner.js';
import { type ReadPool, Snapshot } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { identifierOf, isVersioned, nameOf, ownTables, tableOf } from '../../resource/resource.js';
import { selection } from '../../resource/selection.js';
import { and, sqlEach } from '../condition/print.js';
import { isByRelevance, orderBy, totalOrder } from '../listing/order.js';
import { type VisibleListing, visibleRelated } from '../visibility/visible-listing.js';
import { anchorByRelevance, behindByRelevance, relevanceOf } from '../plan/relevance.js';
import { anchorOf, inBranches, isBehind } from '../statement/picked-objects.js';
import { type MatchingObjects, objectTable, stateOf } from '../statement/page-statement.js';
import { countMatching } from '../statement/tallied-counts.js';
import { requireHistory } from './list-sources.js';
import { type Batch, listKeyOf, type OpenList, type WholeList } from './prepared-list.js';
import type { StreamFormat } from '../../http/negotiation.js';
import { ROW_WRITERS, type Rows, type RowWriter } from './row-writer.js';
import { requireVersion } from './versions.js';

/** The number of objects that are fetched at first, and the bounds for later. */
const OBJECTS = { first: 100, minimum: 1, maximum: 5000 };
/**
 * The target size of what is fetched at once, in characters. It is all that a list has in memory. All other
 * requests wait while it is parsed and converted to text.
 */
const FETCHED_LENGTH = 50_000;

/** The text of a statement, and its parameter values. */
type Query = readonly [text: string, values: readonly unknown[]];

/** A list that is read as a whole: its statement, and the text that it gives. */
export interface Part {
  readonly listing: VisibleListing;
  readonly matching: MatchingObjects;
  readonly objects: Query;
  readonly writer: RowWriter;
}

/** Prepares a whole list. It has no default limit. */
export function wholeList(
  reads: ReadPool,
  listing: VisibleListing,
  matching: MatchingObjects,
  format: StreamFormat,
): WholeList {
  const writer = ROW_WRITERS[format](listing.repository.metadata, listing.fields);
  const part = partOf(listing, matching, writer);
  return {
    key: listKeyOf(format, ...part.objects),
    open: openingOf(reads, [part], listing.resources),
  };
}

export function partOf(
  listing: VisibleListing,
  matching: MatchingObjects,
  writer: RowWriter,
): Part {
  const [text, values] = objectsOf(listing, matching);
  return { listing, matching, objects: [writer.select(text), values], writer };
}

/**
 * Opens lists that are read one after the other, from one snapshot.
 *
 * @param resources those of all lists, whose version they have together
 */
export function openingOf(
  reads: ReadPool,
  parts: readonly Part[],
  resources: readonly string[],
): WholeList['open'] {
  return (signal) =>
    reads.read(
      (pool) => openParts(pool, parts, resources, signal),
      (list) => list.close(),
    );
}

/** Selects every object, in the order of the list. */
function objectsOf(listing: VisibleListing, matching: MatchingObjects): Query {
  const { repository, query, fields, scope, client } = listing;
  const { metadata } = repository;
  const { sort, limit, offset = 0, after } = query;
  const order = totalOrder(metadata, sort);
  const values = new ParameterValues(matching.values);
  const visible = after === undefined ? [] : sqlEach(scope, { metadata, values });
  const picking = { metadata, visible, order, values };
  const search = isByRelevance(sort) ? matching.search : undefined;
  let [anchor, where] = ['', matching.where];
  if (after !== undefined) {
    anchor = `WITH ${search ? anchorByRelevance(search, picking, after) : anchorOf(picking, after)}`;
    const isAfter = search ? behindByRelevance(search, picking) : isBehind(order);
    where = and(where, isAfter);
  }
  const shown = selection(metadata, fields, visibleRelated(client, values));
  const select = (ordering: string, ...branch: readonly string[]): string =>
    `SELECT ${shown} FROM ${tableOf(metadata)} object ${and(where, ...branch)} ${ordering}`;
  const section = {
    limit: limit === undefined ? NO_LIMIT : values.addTyped(limit, 'bigint'),
    offset: values.addTyped(offset, 'bigint'),
  };
  const objects = search
    ? `${select(orderBy(order, 'object', relevanceOf(search, values)))}
           LIMIT ${section.limit} OFFSET ${section.offset}`
    : inBranches(picking, section, select);
  return [`${anchor} ${objects}`, values.values];
}

/** Selects the count of all matching objects, and the state of the data. */
function summaryOf(
  { repository: { metadata } }: VisibleListing,
  matching: MatchingObjects,
  resources: readonly string[],
): Query {
  // A statement must refer to every parameter: those of the conditions only if it reads the objects.
  const values = new ParameterValues(matching.tallied?.isSure ? [] : matching.values);
  const counted = countMatching({ ...matching, values });
  const tables = [objectTable(metadata), ...counted.tables].join(',\n');
  const text = `WITH ${tables} SELECT ${counted.total}::text, ${stateOf(resources, metadata)}`;
  return [text, values.values];
}

/**
 * Opens lists with cursors and reads the first objects. Each fetch is one statement, so the query
 * timeout applies to a fetch and not to the list.
 *
 * @param signal cancels the query in progress
 */
async function openParts(
  pool: Pool,
  parts: readonly Part[],
  resources: readonly string[],
  signal: AbortSignal,
): Promise<OpenList> {
  const own = parts.map(({ listing }) => listing.repository.metadata).filter(isVersioned);
  const tables = [...own.map(tableOf), ...ownTables(resources)];
  const snapshot = await Snapshot.open(pool, tables, signal);
  try {
    // Lock order: tables before tallies, as TRUNCATE takes them; otherwise they deadlock.
    for (const [at, { objects }] of parts.entries()) {
      await snapshot.rows(`DECLARE ${cursor(at)} NO SCROLL CURSOR FOR ${objects[0]}`, objects[1]);
    }
    let count = 0n;
    let [version, until]: [string, string | null] = ['', null];
    for (const [at, { listing, matching }] of parts.entries()) {
      const { query, since, repository } = listing;
      if (query.after !== undefined) await requireObject(snapshot, listing, query.after);
      const own = [...new Set([...listing.resources, ...(at === 0 ? resources : [])])];
      const summary = await snapshot.rows(...summaryOf(listing, matching, own));
      const [[matched = null, read, readUntil = null, tally] = []] = summary;
      const checked = requireVersion({ version: read, tally }, own, repository.metadata);
      count += BigInt(matched ?? 0);
      if (at > 0) continue;
      [version, until] = [checked, readUntil];
      if (since) await requireHistory((...each) => snapshot.objects(...each), since, until);
    }
    // Read before the response begins, so that an error of the query still yields an envelope.
    const first = await fetchRows(snapshot, 0, OBJECTS.first);
    return {
      count: String(count),
      version,
      until,
      batches: batchesOf(snapshot, first, parts),
      close: () => snapshot.close(),
    };
  } catch (error) {
    await snapshot.close();
    throw error;
  }
}

/** @throws ApiError `-31` if the client of a list does not see the object with an identifier */
async function requireObject(
  snapshot: Snapshot,
  { repository: { metadata }, scope }: VisibleListing,
  identifier: string,
): Promise<void> {
  const values = new ParameterValues([identifier]);
  const where = and(
    `WHERE object."${identifierOf(metadata).databaseName}" = $1`,
    ...sqlEach(scope, { metadata, values }),
  );
  const text = `SELECT FROM ${tableOf(metadata)} object ${where}`;
  const found = await snapshot.rows(text, values.values);
  if (found.length === 0) throw errors.objectUnknown(nameOf(metadata), identifier);
}

/** The name of the cursor of a part. */
function cursor(at: number): string {
  return `list_${at}`;
}

function fetchRows(snapshot: Snapshot, at: number, objects: number): Promise<Rows> {
  return snapshot.rows(`FETCH ${objects} FROM ${cursor(at)}`);
}

async function* batchesOf(
  snapshot: Snapshot,
  first: Rows,
  parts: readonly Part[],
): AsyncGenerator<Batch> {
  for (const [at, { writer }] of parts.entries()) {
    let wanted = OBJECTS.first;
    let rows = at === 0 ? first : await fetchRows(snapshot, at, wanted);
    for (let before = writer.header; ; before = '') {
      const text = before + writer.write(rows);
      // An empty list may have a header.
      if (text !== '') yield { rows: rows.length, text };
      if (rows.length < wanted) break;
      const fitting = Math.round((wanted * FETCHED_LENGTH) / text.length);
      wanted = Math.max(OBJECTS.minimum, Math.min(fitting, 4 * wanted, OBJECTS.maximum));
      rows = await fetchRows(snapshot, at, wanted);
    }
  }
}
