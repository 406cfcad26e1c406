import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { anyValue, between, FENCE, unindexedEquality, valueFrom } from '../../database/planner.js';
import { ParameterValues } from '../../database/statement.js';
import { carriedColumnsOf } from '../../resource/list-indexes.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierType } from '../../resource/formats.js';
import { identifierOf, isBroad, singleCountedColumnsOf } from '../../resource/resource.js';
import { PAGE_JSON, selection } from '../../resource/selection.js';
import { objectTable, type PageRequest, stateOf } from '../statement/page-statement.js';
import { countOf, type Facet, facetName, tallyRows } from '../../tally/facet.js';
import { tallyOf } from '../../tally/described-tally.js';
import type { PageStatement } from './plan.js';

/**
 * The statement for a page of a facet in the order of the identifier.
 *
 * @param resources whose version the page has
 */
export function pageOfFacet(
  metadata: EntityMetadata,
  of: Facet,
  { fields, limit, offset }: Pick<PageRequest, 'fields' | 'limit' | 'offset'>,
  resources: readonly string[],
): PageStatement {
  const values = new ParameterValues([], true);
  const name = values.add(facetName(of));
  const size = `${values.add(limit)}::bigint`;
  const skipped = offset === 0 ? undefined : values.add(offset);
  const { select, tables } = indexesOf(metadata, of, values);
  const { databaseName, type } = identifierOf(metadata);
  const key = `object."${databaseName}"`;
  const lowest =
    skipped === undefined
      ? `(SELECT ${identifierType(type).bounds.minimum})`
      : '(SELECT lowest FROM position)';
  const first = skipped === undefined ? lowest : '(SELECT id FROM first)';
  const shown = selection(metadata, fields, () => []);
  // The objects of a combination are not adjacent in an index. It is read for their identifiers alone,
  // so that no other object is visited.
  const isPicked = of.columns.length > 1;
  const objects = isPicked
    ? `SELECT object.* FROM picked CROSS JOIN LATERAL (
         SELECT * FROM "${metadata.tableName}" object WHERE ${key} = picked.id ${FENCE}
       ) object ORDER BY picked.id`
    : select('*', first, anyValue(size));
  // Lock order: table before tally, as TRUNCATE takes them; otherwise they deadlock.
  const all = [
    objectTable(metadata),
    ...tables,
    `position AS MATERIALIZED (${positionText(metadata, name, skipped)})`,
    // The objects that are skipped need only the key, so an index-only scan reads them.
    ...(skipped === undefined
      ? []
      : [
          `first AS MATERIALIZED (SELECT (${select(key, lowest, '1 OFFSET (SELECT skipped FROM position)')}) AS id)`,
        ]),
    ...(isPicked
      ? [`picked AS MATERIALIZED (${select(`${key} AS id`, first, anyValue(size))})`]
      : []),
  ];
  // Texts of one collation: the type of a prepared result must not change with that of the identifier.
  const text = `WITH ${all.join(',\n')}
    SELECT position.total AS count, ${stateOf(resources, metadata)}, page.objects,
      page.last::text COLLATE "C" AS last,
      greatest(least(${size}, position.total::bigint - ${skipped ?? '0'}::bigint), 0)::text AS rows
    FROM position CROSS JOIN LATERAL (
      SELECT ${PAGE_JSON} AS objects, (array_agg(${key}))[${size}] AS last
      FROM (${objects}) object CROSS JOIN LATERAL (SELECT ${shown}) "#page"
    ) page`;
  return {
    text,
    values: values.values,
    count: { name: 'tally', unfit: [] },
    prepare: fields === undefined ? 'always' : 'if frequent',
  };
}

/** How the objects of a facet are read. */
interface Reading {
  /** Common table expressions that `select` refers to. */
  readonly tables: readonly string[];
  /** Selects columns of the objects from an identifier on. */
  readonly select: (columns: string, from: string, limit: string) => string;
}

/** Reads the index of the leading column; the primary key without one. */
function indexesOf(
  metadata: EntityMetadata,
  { columns, values: sought }: Facet,
  values: ParameterValues,
): Reading {
  const { databaseName, type } = identifierOf(metadata);
  const key = `object."${databaseName}"`;
  const compared = columns.map((column, at) => ({
    column,
    text: sought[at] ?? '',
    reference: `object."${column.databaseName}"`,
    value: values.addTyped(sought[at], sqlTypeOf(column)),
  }));
  const ordered = (shown: string, where: string, order: string, limit: string): string =>
    `(SELECT ${shown} FROM object WHERE ${where} ORDER BY ${order} LIMIT ${limit})`;
  if (compared.length === 0) {
    const above = `(SELECT ${identifierType(type).bounds.maximum})`;
    return {
      tables: [],
      select: (shown, from, limit) => ordered(shown, between(key, from, above), key, limit),
    };
  }
  const leading = leadersOf(metadata, columns);
  const leaders = compared.filter(({ column }) => leading.includes(column));
  const isChosen = leaders.length > 1;
  const counts = (isChosen ? leaders : []).map(({ column, text }) => {
    const facetOfValue = values.add(facetName({ columns: [column], values: [text] }));
    return `('${column.databaseName}', ${countOf(tallyOf(metadata).byIdentifier, `ARRAY[${facetOfValue}::text]`)})`;
  });
  const select: Reading['select'] = (shown, from, limit) =>
    leaders
      .map(({ column, reference, value }) => {
        const order = `${reference}, ${key}`;
        const conditions = [
          ...(isChosen ? [`(SELECT name FROM rarest) = '${column.databaseName}'`] : []),
          ...valueFrom([reference, key], value, from),
          ...compared
            .filter((other) => other.column !== column)
            .map((other) => unindexedEquality(other.reference, other.value)),
        ];
        return ordered(shown, conditions.join(' AND '), order, limit);
      })
      .join(' UNION ALL ');
  const rarest = `rarest AS MATERIALIZED (
    SELECT name FROM (VALUES ${counts.join(', ')}) AS leaders(name, count) ORDER BY count LIMIT 1
  )`;
  return { select, tables: isChosen ? [rarest] : [] };
}

/**
 * The columns of a facet of which the rarest value, at the time of the query, leads: its index is read. A
 * value of few, such as a type, is hardly the rarest one.
 */
function leadersOf(
  metadata: EntityMetadata,
  columns: readonly ColumnMetadata[],
): readonly ColumnMetadata[] {
  const counted = singleCountedColumnsOf(metadata);
  const found = columns.filter(({ propertyName: name }) => {
    const carried = carriedColumnsOf(metadata, name);
    return (
      counted.includes(name) &&
      !isBroad(metadata, name) &&
      columns.every(({ propertyName }) => carried.includes(propertyName))
    );
  });
  return found.length > 0 ? found : columns.slice(0, 1);
}

/**
 * Selects the total of a facet, and, for an offset, the range that contains it and the objects to skip within the range.
 *
 * @param name the parameter with the name of the facet
 * @param offset its parameter
 */
function positionText(metadata: EntityMetadata, name: string, offset?: string): string {
  const order = tallyOf(metadata).byIdentifier;
  if (offset === undefined)
    return `SELECT ${countOf(order, `ARRAY[${name}::text]`)}::text AS total`;
  // PostgreSQL has no minimum of UUIDs. Their texts have the same order.
  const first =
    identifierOf(metadata).type === 'uuid'
      ? `(min(lowest::text COLLATE "C") FILTER (WHERE upto > ${offset}))::uuid`
      : `min(lowest) FILTER (WHERE upto > ${offset})`;
  return `SELECT
      ${first} AS lowest,
      ${offset} - coalesce(max(upto) FILTER (WHERE upto <= ${offset}), 0) AS skipped,
      coalesce(max(upto), 0)::text AS total
    FROM (
      SELECT lowest, sum(count) OVER (ORDER BY lowest) AS upto
      FROM ${tallyRows(order, `WHERE facet = ${name}`)}
    ) ranges`;
}
