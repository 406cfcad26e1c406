import type { DataSource, EntityMetadata } from 'typeorm';
import { fieldsOf, hasOwnTable, identifierOf, nameOf, tableOf } from '../resource/resource.js';
import { valuesOf } from '../resource/column-values.js';
import { findCycle, parentColumnOf } from '../resource/relations.js';
import { identifierType } from '../resource/formats.js';
import { countsAsDeclared, tally as tallyPart } from '../schema/parts/tally.js';
import { everyOrder, type Tally, tallyOf } from '../tally/described-tally.js';
import { recountOf } from '../tally/facet.js';

/** Finds violations in the objects of a resource, as lines. Its columns are as declared. */
type ObjectCheck = (dataSource: DataSource, metadata: EntityMetadata) => Promise<string[]>;

export const OBJECT_CHECKS: readonly ObjectCheck[] = [
  brokenReferences,
  checkViolations,
  unwritableValues,
  cycles,
  miscounts,
  staleWords,
  repeatedIdentifiers,
];

/** Foreign keys without a target, which a disabled trigger or a damaged index can allow. */
async function brokenReferences(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const found: string[] = [];
  for (const { columns, referencedColumns, referencedEntityMetadata } of metadata.foreignKeys) {
    const [column, key] = [columns[0]?.databaseName, referencedColumns[0]?.databaseName];
    const target = tableOf(referencedEntityMetadata);
    const isBroken = `"${column}" IS NOT NULL
       AND NOT EXISTS (SELECT FROM ${target} target WHERE target."${key}" = object."${column}")`;
    const what = `name ${nameOf(referencedEntityMetadata)} by ${column} that are not there`;
    found.push(...(await counted(dataSource, metadata, isBroken, what)));
  }
  return found;
}

/** Rows that violate a check constraint, which can be added as NOT VALID. */
async function checkViolations(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, expression } of metadata.checks) {
    const what = `break the rule ${name}: ${expression}`;
    found.push(...(await counted(dataSource, metadata, `NOT (${expression})`, what)));
  }
  return found;
}

/** Values of a table of the service for which JSON has no form. Its document says that there are none. */
async function unwritableValues(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  if (!hasOwnTable(metadata)) return [];
  const found: string[] = [];
  for (const column of fieldsOf(metadata)) {
    const { beyond } = valuesOf(column);
    if (!beyond || column.isVirtualProperty) continue;
    const isBeyond = `NOT (${beyond.isWithin(`object."${column.databaseName}"`)})`;
    const what = `have a ${column.propertyName} for which JSON has no form: infinity, NaN, or a year before 1 or after 9999`;
    found.push(...(await counted(dataSource, metadata, isBeyond, what)));
  }
  return found;
}

/** Objects of a tree that are their own ancestors. */
async function cycles(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const found = await findCycle(dataSource.manager, metadata);
  return found.map(
    (object) => `${nameOf(metadata)} ${object} is below itself by ${parentColumnOf(metadata)}`,
  );
}

/** Objects whose words are not those of their texts, as after a write without triggers: searches miss them, or find them. */
async function staleWords(dataSource: DataSource, metadata: EntityMetadata): Promise<string[]> {
  const rows = await dataSource.query<{ words: string }[]>(
    `SELECT row_words('object', columns) AS words FROM searches WHERE resource = $1`,
    [nameOf(metadata)],
  );
  const what = 'have other words than their texts; run catalogue search rebuild';
  return rows[0]
    ? counted(dataSource, metadata, `object.words IS DISTINCT FROM ${rows[0].words}`, what)
    : [];
}

/** Identifiers of an external table that several objects have, or that are missing: a view has no key. */
async function repeatedIdentifiers(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  if (hasOwnTable(metadata)) return [];
  const { databaseName: identifier } = identifierOf(metadata);
  const rows = await dataSource.query<{ identifier: string | null; count: string }[]>(
    `SELECT "${identifier}" AS identifier, count(*) FROM ${tableOf(metadata)} GROUP BY 1
     HAVING count(*) > 1 OR "${identifier}" IS NULL ORDER BY 1 LIMIT 20`,
  );
  return rows.map(
    (row) => `${row.count} ${nameOf(metadata)} have the ${identifier} ${String(row.identifier)}`,
  );
}

/** Counts the objects that meet a condition in SQL; empty if there are none. */
async function counted(
  dataSource: DataSource,
  metadata: EntityMetadata,
  condition: string,
  what: string,
): Promise<string[]> {
  const [{ count }] = await dataSource.query<[{ count: string }]>(
    `SELECT count(*) FROM ${tableOf(metadata)} object WHERE ${condition}`,
  );
  return count === '0' ? [] : [`${count} ${nameOf(metadata)} ${what}`];
}

/** Maximum number of reported ranges, or words, per resource and tally. */
const MAXIMUM_REPORTED = 20;

/**
 * The ranges and words whose tally differs from the table, as lines. Without any, all counts and offsets are right.
 * Empty if the resource has no tally of the columns of its entity, which `differences` reports.
 */
export async function miscounts(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<string[]> {
  const resource = nameOf(metadata);
  const installed = (await tallyPart.read(dataSource, [resource])).get(resource);
  if (!countsAsDeclared(metadata, installed)) return [];
  const { minimum } = identifierType(identifierOf(metadata).type).bounds;
  const found: string[] = [];
  for (const order of everyOrder(tallyOf(metadata))) {
    const name = order.kind === 'cells' ? 'the tally of cells' : 'the tally';
    const tally = order.column ? `${name} by ${order.column.propertyName}` : name;
    const [{ recount }] = await dataSource.query<[{ recount: string }]>(...recountOf(order));
    const text = comparison(order, recount, minimum);
    for (const { where, tallied, there } of await dataSource.query<Difference[]>(text)) {
      found.push(`${tally} of ${resource} has ${tallied} for ${where}, where there are ${there}`);
    }
  }
  return found;
}

interface Difference {
  /** The facet and the name of the range in it, or the word. */
  readonly where: string;
  readonly tallied: string;
  /** The number of objects in the table. */
  readonly there: string;
}

/**
 * Selects the rows where tally and table differ. One statement, so that it sees one snapshot.
 *
 * @param recount see `recountOf`
 * @param minimum the least identifier in SQL, after which the first range is named
 */
function comparison(
  { kind, tally, deltas, key, words }: Tally & { readonly words?: string },
  recount: string,
  minimum: string,
): string {
  // Words that are not counted yet have deltas.
  const counted = words ? `WHERE word IN (SELECT word FROM ${words} WHERE is_counted)` : '';
  const from = `concat_ws(', ', ${kind === 'values' ? 'value, ' : ''}nullif(lowest, ${minimum}))`;
  const where = key.startsWith('word')
    ? `concat_ws(' ', coalesce(word, 'no item'), nullif(facet, ''))`
    : `coalesce(nullif(facet, ''), 'all') || ' from ' || coalesce(nullif(${from}, ''), 'the first')`;
  return `SELECT ${where} AS where, sum(tallied) AS tallied, sum(there) AS there
    FROM (
      SELECT ${key}, count AS tallied, 0 AS there FROM ${tally} ${counted}
      UNION ALL SELECT ${key}, count, 0 FROM ${deltas} ${counted}
      UNION ALL SELECT ${key}, 0, there FROM (${recount}) recount(${key}, there)
    ) every
    GROUP BY ${key} HAVING sum(tallied) <> sum(there)
    ORDER BY ${key} LIMIT ${MAXIMUM_REPORTED}`;
}
