import type { EntityMetadata } from 'typeorm';
import { identifierOf, singleCountedColumnsOf, tableOf } from '../resource/resource.js';
import { parentColumnOf } from '../resource/relations.js';
import type { PlainResource } from './oracle.js';

/** The public form of times, in SQL. */
const FORMS: Readonly<Record<string, (reference: string) => string>> = {
  timestamptz: (reference) =>
    `to_char(${reference} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
  date: (reference) => `to_char(${reference}, 'YYYY-MM-DD')`,
};
const NUMBERS = ['integer', 'bigint', 'numeric', 'double precision'];

/**
 * What facet counts tell of the fields of any resource beside their values, without the columns that are counted.
 *
 * @param named the column that `within` compares, if several refer to a tree
 * @param search the filter that searches for words
 */
export function plainCountableFields(
  metadata: EntityMetadata,
  named?: string,
  search?: string,
): NonNullable<PlainResource['facets']> {
  const labels: Record<string, () => string> = {};
  let tree = { column: '', nodes: () => '' };
  for (const { columns, referencedEntityMetadata: other } of metadata.foreignKeys) {
    const column = columns[0]?.propertyName ?? '';
    const [table, identifier] = [tableOf(other), `"${identifierOf(other).databaseName}"`];
    const label = other.findColumnWithPropertyName('name')?.databaseName;
    if (label !== undefined && /(ID|Id|_id)$/.test(column)) {
      labels[column] = () => `(SELECT "${label}" FROM ${table} WHERE ${identifier}::text = value)`;
    }
    const parent = parentColumnOf(other);
    if (other === metadata || parent === undefined || (named !== undefined && named !== column))
      continue;
    tree = {
      column,
      nodes: () => `WITH RECURSIVE nodes AS (
        SELECT ${identifier} AS value, ${identifier}::text AS node FROM ${table}
        UNION SELECT child.${identifier}, node FROM nodes JOIN ${table} child ON child."${parent}" = nodes.value
      ) TABLE nodes`,
    };
    const ofColumn = labels[column];
    if (ofColumn) labels.within = ofColumn;
  }
  const arrays = metadata.columns.filter(({ isArray }) => isArray);
  const items = arrays.map(({ propertyName }) => propertyName);
  const ranges = metadata.columns
    .filter((column) => !arrays.includes(column))
    .filter(({ type }) => NUMBERS.includes(String(type)) || String(type) in FORMS)
    .filter(({ propertyName }) => !singleCountedColumnsOf(metadata).includes(propertyName))
    .map(({ propertyName, type }) => [
      propertyName,
      FORMS[String(type)] ?? ((reference: string) => `(${reference})::text`),
    ]);
  const presence = metadata.columns.map(({ propertyName: name, isArray }) => {
    const is = isArray ? `coalesce(cardinality("${name}"), 0) > 0` : `"${name}" IS NOT NULL`;
    return [`${name}Exists`, [name, is]] as const;
  });
  return {
    labels,
    tree,
    items,
    search,
    presence: Object.fromEntries(presence),
    ranges: Object.fromEntries(ranges),
  };
}
