import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { valuesOf } from './column-values.js';
import { type Children, type Related, relatedOf } from './relations.js';
import { fieldsOf, identifierOf, orderColumnOf, tableOf } from './resource.js';

/** Conditions in SQL on the table `related`, for an entity that it may be of: which objects are visible. */
export type VisibleRelated = (metadata: EntityMetadata) => readonly string[];

/** The select lists of all fields of the resources, which most lists ask for. */
const ALL_FIELDS = new WeakMap<EntityMetadata, string>();

/**
 * The select list of a query on `object`: the public form of each field, and related objects.
 *
 * @param names the fields to select, those of related objects as `brand.name`; default: all its own
 * @param visible which related objects are shown; the others are null
 */
export function selection(
  metadata: EntityMetadata,
  names: readonly string[] | undefined,
  visible: VisibleRelated,
): string {
  if (!names) {
    const all = ALL_FIELDS.get(metadata) ?? publicForms(metadata, names, 'object').join(', ');
    ALL_FIELDS.set(metadata, all);
    return all;
  }
  const objects = selectedRelated(metadata, names).map(([related, fields]) =>
    related.children
      ? relatedObjects(related, related.children, identifierOf(metadata), fields, visible)
      : relatedObject(related, fields, visible),
  );
  return [...publicForms(metadata, names, 'object'), ...objects].join(', ');
}

/** The computed fields of a selection, each with the entity that it is of: the resource or a related one. */
export function selectedComputed(
  metadata: EntityMetadata,
  names: readonly string[] | undefined,
): [entity: EntityMetadata, column: ColumnMetadata][] {
  const related = selectedRelated(metadata, names).map(
    ([{ metadata: other }, fields]) => [other, fields] as const,
  );
  return [[metadata, names] as const, ...related].flatMap(([entity, fields]) =>
    selectedColumns(entity, fields)
      .filter(({ isVirtualProperty }) => isVirtualProperty)
      .map((column): [EntityMetadata, ColumnMetadata] => [entity, column]),
  );
}

/** The related objects that a selection names, each with its own fields. */
export function selectedRelated(
  metadata: EntityMetadata,
  names: readonly string[] = [],
): [related: Related, fields: string[]][] {
  return relatedOf(metadata)
    .map((related): [Related, string[]] => [related, fieldsOfRelated(related.name, names)])
    .filter(([, fields]) => fields.length > 0);
}

/** The names of a selection that are fields of a related object. */
export function fieldsOfRelated(related: string, names: readonly string[]): string[] {
  const prefix = `${related}.`;
  return names.flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length)] : []));
}

function publicForms(
  metadata: EntityMetadata,
  names: readonly string[] | undefined,
  table: string,
): string[] {
  return selectedColumns(metadata, names).map((column) => {
    const value = valueOf(column, table);
    return `${valuesOf(column).publicForm?.(value) ?? value} AS "${column.propertyName}"`;
  });
}

/** The fields of an entity, of those that a selection names; default: all its own. */
export function selectedColumns(
  metadata: EntityMetadata,
  names: readonly string[] | undefined,
): ColumnMetadata[] {
  return fieldsOf(metadata).filter(({ propertyName }) => !names || names.includes(propertyName));
}

/** A column in SQL; the query of a `@VirtualColumn` in brackets. */
export function valueOf(
  { isVirtualProperty, query, databaseName }: ColumnMetadata,
  table: string,
): string {
  return isVirtualProperty && query ? `(${query(table)})` : `${table}."${databaseName}"`;
}

/** A related object as JSON; null if the column is null, or if the object is not visible. */
function relatedObject(
  { name, column, metadata }: Related,
  fields: readonly string[],
  visible: VisibleRelated,
): string {
  const identifier = `related."${identifierOf(metadata).databaseName}"`;
  const conditions = [`${identifier} = object."${column.databaseName}"`, ...visible(metadata)];
  return `(SELECT row_to_json("#related") FROM (
      SELECT ${publicForms(metadata, fields, 'related').join(', ')}
      FROM ${tableOf(metadata)} related
      WHERE ${conditions.join(' AND ')}
    ) "#related") AS "${name}"`;
}

/** The objects that refer to one, as a list in JSON with at most as many as are shown, and the number of all of them. */
function relatedObjects(
  { name, column, metadata }: Related,
  { limit, sort = '' }: Children,
  parent: ColumnMetadata,
  fields: readonly string[],
  visible: VisibleRelated,
): string {
  const { databaseName: identifier } = identifierOf(metadata);
  const [, descending, sorted] = /^(-?)(.*)$/.exec(sort) ?? [];
  const refers = `related."${column.databaseName}" = object."${parent.databaseName}"`;
  const of = `FROM ${tableOf(metadata)} related WHERE ${[refers, ...visible(metadata)].join(' AND ')}`;
  const direction = descending ? ' DESC NULLS LAST' : '';
  const keys = [
    ...(sorted ? [`related."${orderColumnOf(metadata, sorted).databaseName}"${direction}`] : []),
    `related."${identifier}"${descending ? ' DESC' : ''}`,
  ];
  const objects = `SELECT ${publicForms(metadata, fields, 'related').join(', ')} ${of}
    ORDER BY ${keys.join(', ')} LIMIT ${limit}`;
  return `${jsonArray(objects)}::json AS "${name}", (SELECT count(*)::text ${of}) AS "${name}Count"`;
}

/**
 * The rows of the table `#page`, in order, as the JSON text of an array. This alias cannot be the name of a column:
 * `row_to_json` would take the column instead of the row.
 */
export const PAGE_JSON = `coalesce('[' || string_agg(row_to_json("#page")::text, ',') || ']', '[]')`;

/** An SQL expression for the rows of a query, in order, as the JSON text of an array. */
export function jsonArray(query: string): string {
  return `(SELECT ${PAGE_JSON} FROM (${query}) "#page")`;
}
