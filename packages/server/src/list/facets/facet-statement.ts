import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { fieldsOf, identifierOf, isResource, tableOf } from '../../resource/resource.js';
import { jsonArray, type VisibleRelated } from '../../resource/selection.js';
import { parentColumnOf, type Related, relatedOf } from '../../resource/relations.js';
import { rightsOf } from '../../resource/visibility.js';
import { searchIn } from '../statement/criteria.js';
import { objectTable, stateOf } from '../statement/page-statement.js';
import { type VisibleListing, visibleRelated } from '../visibility/visible-listing.js';
import { columnNamed, type CountableFields, WITHIN } from './countable-fields.js';
import { countedValues, presenceOf } from './counted-values.js';
import { countedNear, type NearText } from './near-words.js';
import { intervalsOf, limitsOf } from './ranges.js';

/** What facet counts are asked for. */
export interface FacetRequest {
  readonly fields: CountableFields;
  /** The names of the fields that are counted, of `fields`. */
  readonly names: readonly string[];
  /** Most values of each field. Default: 50. */
  readonly limit?: number | undefined;
  /** How the values or the labels begin, of the only field. */
  readonly starts?: string | undefined;
  /** The bounds of intervals of the only field, a number or a time: ascending texts in its public form. */
  readonly bounds?: readonly string[] | undefined;
}

interface Asked {
  readonly name: string;
  /** The place among the fields that are asked for. */
  readonly at: number;
  /** The column that it is about. */
  readonly column: string;
  /** Whether it counts the objects with a value of the column, and those without. */
  readonly isPresence: boolean;
}

/** The counts of some fields. */
interface Counts {
  /** Common table expressions. The last one has every row of the response. */
  readonly tables: readonly string[];
  /** The name of the last one. */
  readonly every: string;
  /** A query of those that are shown: `at`, the place of the field, `place`, that of the object, `value` and `count`. */
  readonly shown: string;
}

/**
 * The text of the statement for facet counts, and its parameter values.
 *
 * @param near the texts that are counted for the search, if it is named
 */
export function facetStatement(
  list: VisibleListing,
  { fields, names, starts, bounds }: FacetRequest,
  limit: number,
  near: readonly NearText[] = [],
): [text: string, values: unknown[]] {
  const { repository, client, resources } = list;
  const { metadata } = repository;
  const values = new ParameterValues([limit]);
  const visible = visibleRelated(client, values);
  const asked = names.map((name, at): Asked => {
    const isPresence = fields.presence.has(name);
    return { name, at, column: columnNamed(fields, name), isPresence };
  });
  const searched = asked.filter(({ name }) => name === fields.search);
  const counted = asked.filter((each) => !searched.includes(each));
  const isRanged = ({ name, isPresence }: Asked): boolean =>
    bounds !== undefined || !(isPresence || fields.valued.includes(name));
  const [valued, ranged] = [counted.filter((each) => !isRanged(each)), counted.filter(isRanged)];
  const counts = [
    ...(valued.length > 0 ? [valueCounts(list, valued, starts, values, visible)] : []),
    ...(ranged.length > 0 ? [rangeCounts(list, ranged, bounds, values)] : []),
    ...searched.map(({ at }) => nearCounts(list, at, near, values)),
  ];
  const labels = valued.flatMap((each) => {
    const label = labelOf(list, each, 'shown.value', visible);
    return label === undefined ? [] : [`WHEN ${each.at} THEN ${label}`];
  });
  const objects = jsonArray(
    `SELECT CASE at ${asked.map(({ name, at }) => `WHEN ${at} THEN '${name}'`).join(' ')} END AS field, value,
       ${labels.length === 0 ? 'NULL' : `CASE at ${labels.join(' ')} END`} AS label, count::text AS count
     FROM shown ORDER BY at, place`,
  );
  const tables = [
    objectTable(metadata),
    ...counts.flatMap((each) => each.tables),
    `shown AS MATERIALIZED (${counts.map((each) => each.shown).join('\nUNION ALL ')})`,
  ];
  const total = counts.map(({ every }) => `(SELECT count(*) FROM ${every})`).join(' + ');
  const text = `WITH ${tables.join(',\n')}
    SELECT ${objects} AS objects, (${total})::text AS count,
      (SELECT count(*)::text FROM shown) AS rows, NULL AS last, ${stateOf(resources, metadata)}`;
  return [text, values.values];
}

/**
 * The values of counted columns, their presence and the nodes of trees, the most frequent first: at most as many of each
 * field as `$1` says.
 *
 * @param starts how a value or its label begins, if it is kept
 */
function valueCounts(
  list: VisibleListing,
  asked: readonly Asked[],
  starts: string | undefined,
  values: ParameterValues,
  visible: VisibleRelated,
): Counts {
  const { metadata } = list.repository;
  const columns = [
    ...new Set(asked.flatMap(({ column, isPresence }) => (isPresence ? [] : [column]))),
  ];
  const tables: string[] = [];
  if (columns.length > 0) {
    const counted = countedValues(list, columns, values);
    tables.push(...counted.tables, `counted AS MATERIALIZED (${counted.query})`);
  }
  const ofFields = asked.map(({ name, at, column, isPresence }) => {
    if (isPresence) {
      return `SELECT ${at} AS at, value, count FROM (${presenceOf(list, column, values)}) presence`;
    }
    const ofColumn = `counted.at = ${columns.indexOf(column)}`;
    if (name !== WITHIN) return `SELECT ${at} AS at, value, count FROM counted WHERE ${ofColumn}`;
    tables.push(`reached AS (${reached(metadata, column, ofColumn, visible)})`);
    return `SELECT ${at} AS at, id::text AS value, sum(count)::bigint AS count FROM reached GROUP BY id`;
  });
  // The empty text is left out: no filter can ask for it.
  const kept = ['count > 0', `value <> ''`];
  if (starts !== undefined) {
    const start = `(SELECT search_text(${values.addTyped(starts, 'text')}))`;
    const labels = asked.flatMap((each) => labelOf(list, each, 'of_field.value', visible) ?? []);
    const begins = ['value', ...labels].map(
      (text) => `starts_with(search_text(${text}), ${start})`,
    );
    kept.push(`(${begins.join(' OR ')})`);
  }
  tables.push(`counts AS MATERIALIZED (
      SELECT * FROM (${ofFields.join('\nUNION ALL ')}) of_field WHERE ${kept.join(' AND ')}
    )`);
  const byCount = 'count DESC, value COLLATE "C"';
  return {
    tables,
    every: 'counts',
    shown: `SELECT field.at, place, value, count
      FROM (VALUES ${asked.map(({ at }) => `(${at})`).join(', ')}) AS field(at) CROSS JOIN LATERAL (
        SELECT value, count, row_number() OVER (ORDER BY ${byCount}) AS place
        FROM counts WHERE counts.at = field.at ORDER BY ${byCount} LIMIT $1::bigint
      ) first`,
  };
}

/** The limits of numbers and times; or the intervals of one of them, all of them unless `$1` is 0. */
function rangeCounts(
  list: VisibleListing,
  asked: readonly Asked[],
  bounds: readonly string[] | undefined,
  values: ParameterValues,
): Counts {
  const tables: string[] = [];
  const queries = asked.map(({ column, at }) => {
    const rows = bounds
      ? intervalsOf(list, column, bounds, values)
      : limitsOf(list, column, values);
    tables.push(...rows.tables);
    return `SELECT ${at} AS at, place, value, count FROM (${rows.query}) ranges`;
  });
  return {
    tables: [...tables, `ranged AS MATERIALIZED (${queries.join('\nUNION ALL ')})`],
    every: 'ranged',
    shown: 'SELECT * FROM ranged WHERE $1::bigint > 0',
  };
}

/** Texts near the search, which find something. */
function nearCounts(
  list: VisibleListing,
  at: number,
  near: readonly NearText[],
  values: ParameterValues,
): Counts {
  const query = countedNear(list, searchIn(list.filters), near, values);
  return {
    tables: [
      `near AS MATERIALIZED (SELECT ${at} AS at, place, value, count FROM (${query}) texts)`,
    ],
    every: 'near',
    shown: 'SELECT * FROM near WHERE place <= $1::bigint',
  };
}

/**
 * An SQL expression for what the object is called that a value of a field refers to; `undefined` if it refers to none, or
 * the client does not see it.
 *
 * @param value in SQL, a text
 */
function labelOf(
  { repository: { metadata }, client }: VisibleListing,
  { column, isPresence }: Asked,
  value: string,
  visible: VisibleRelated,
): string | undefined {
  const related = isPresence ? undefined : relatedBy(metadata, column);
  const label = related && labelColumnOf(related.metadata);
  if (!label) return undefined;
  const { target } = related.metadata;
  if (!rightsOf(client).sees(target as object, label.propertyName)) return undefined;
  const conditions = [identifiedBy(related.metadata, value), ...visible(related.metadata)];
  return `(SELECT related."${label.databaseName}"::text FROM ${tableOf(related.metadata)} related
    WHERE ${conditions.join(' AND ')})`;
}

/**
 * A query of `value`, a text of a column that refers to a tree, `count`, the number of objects that have it, and `id`, each
 * object that the value is within. The count comes along, as `counted` has each value once: a join with `counted`, whose
 * size PostgreSQL does not know, may compare each row with each.
 *
 * @param ofColumn the condition for the rows of `counted` that are of the column
 */
function reached(
  metadata: EntityMetadata,
  column: string,
  ofColumn: string,
  visible: VisibleRelated,
): string {
  const tree = relatedBy(metadata, column)?.metadata;
  const parent = tree && parentColumnOf(tree);
  if (!tree || parent === undefined) throw new TypeError(`${column} refers to no tree`);
  const table = tableOf(tree);
  const identifier = `"${identifierOf(tree).databaseName}"`;
  const andVisible = (...conditions: string[]): string =>
    [...conditions, ...visible(tree)].join(' AND ');
  // UNION ends it also in a cycle.
  return `WITH RECURSIVE reached(value, count, id) AS (
      SELECT counted.value, counted.count, related.${identifier} FROM counted
      JOIN ${table} related ON ${andVisible(ofColumn, identifiedBy(tree, 'counted.value'))}
      UNION
      SELECT reached.value, reached.count, related.${identifier} FROM reached
      JOIN ${table} child ON child.${identifier} = reached.id
      JOIN ${table} related ON ${andVisible(`related.${identifier} = child."${parent}"`)}
    ) TABLE reached`;
}

/** The condition that an object in the table `related` has an identifier, which is a text. */
function identifiedBy(metadata: EntityMetadata, text: string): string {
  const { databaseName } = identifierOf(metadata);
  return `related."${databaseName}" = CAST(${text} AS ${sqlTypeOf(identifierOf(metadata))})`;
}

/** The object that a column refers to; `undefined` if it refers to none of a resource. */
function relatedBy(metadata: EntityMetadata, column: string): Related | undefined {
  return relatedOf(metadata).find(
    (each) => !each.children && each.column.propertyName === column && isResource(each.metadata),
  );
}

/** The column that says what an object is called: `name`; `undefined` if there is none in the table. */
function labelColumnOf(metadata: EntityMetadata): ColumnMetadata | undefined {
  return fieldsOf(metadata).find(
    ({ propertyName, isVirtualProperty }) => propertyName === 'name' && !isVirtualProperty,
  );
}

/** The fields of related objects that counts of columns show or depend on, such as `brand.name`. */
export function labelFields(metadata: EntityMetadata, columns: readonly string[]): string[] {
  return columns.flatMap((column) => {
    const related = relatedBy(metadata, column);
    if (!related) return [];
    const { propertyName } = labelColumnOf(related.metadata) ?? identifierOf(related.metadata);
    return [`${related.name}.${propertyName}`];
  });
}
