import type { Type } from '@nestjs/common';
import { type EntityMetadata, getMetadataArgsStorage } from 'typeorm';
import { isAllowed, parametersOf } from '../../http/parameters/declared-parameters.js';
import { flagsOf } from '../../resource/filter-forms.js';
import { columnTypeOf, type TypeOfColumn } from '../../resource/column-values.js';
import { namedColumn, singleCountedColumnsOf } from '../../resource/resource.js';
import { relatedEntity, relatedName, treeReferences } from '../../resource/relations.js';
import type { Rights } from '../../resource/visibility.js';
import { declaredColumns } from '../../resource/declaration.js';
import { type ListQueryClass, listQueryOf, sortsOf } from '../query/query-of.js';
import { searchParameterOf } from '../query/search-text.js';

/** The name of the field, and of the filter, that is about a tree. */
export const WITHIN = 'within';

/** The fields that facet counts of a resource may name. */
export interface CountableFields {
  /**
   * All names: public columns first, as the entity declares them, hidden ones, `within`, and the search. Presence follows its
   * column.
   */
  readonly names: readonly string[];
  /** The single counted columns and the arrays. */
  readonly counted: readonly string[];
  /** What is counted by value: the counted columns, and `within`. */
  readonly valued: readonly string[];
  /** The counted columns, and arrays, of which an object may have no value or item, by the filter: `coloursExists`. */
  readonly presence: ReadonlyMap<string, string>;
  /** The types of the public numbers and times that lists sort by. They have limits, and objects between bounds. */
  readonly ranged: ReadonlyMap<string, TypeOfColumn>;
  /** The counted column that refers to the tree of the filter `within`; absent if there is no such filter, or column. */
  readonly tree: string | undefined;
  /** The filter that searches for words in a searched column, which has near words; absent if there is none. */
  readonly search: string | undefined;
}

/** Those of the fields that a client sees: `within` and the search if it may filter by them. */
export function visibleFields(
  entity: Type,
  fields: CountableFields,
  rights: Rights,
): CountableFields {
  if (!rights.isRestricted) return fields;
  const { names, counted, valued, presence, ranged, tree, search } = fields;
  const query = listQueryOf(entity);
  const isVisible = (name: string): boolean =>
    name === search || (name === WITHIN && tree !== undefined)
      ? query !== undefined && isAllowed(query, name, { maxLimit: 0, rights })
      : rights.sees(entity, presence.get(name) ?? name);
  return {
    names: names.filter(isVisible),
    counted: counted.filter(isVisible),
    valued: valued.filter(isVisible),
    presence: new Map([...presence].filter(([name]) => isVisible(name))),
    ranged: new Map([...ranged].filter(([name]) => isVisible(name))),
    tree,
    search,
  };
}

/**
 * What is counted unless the request names fields: the counted columns and arrays, or everything but the search if there are
 * none.
 */
export function countedByDefault({ counted, names, search }: CountableFields): readonly string[] {
  return counted.length > 0 ? counted : names.filter((name) => name !== search);
}

/** What facet counts of an entity may name, whatever a client sees. */
export function countableFieldsOf(entity: Type): CountableFields {
  const query = listQueryOf(entity);
  const sorts = query ? sortsOf(query) : [];
  const tallied = countedFieldsOf({ target: entity });
  const columns = getMetadataArgsStorage()
    .filterColumns(entity)
    .toSorted(
      (one, other) => Number(one.options.select === false) - Number(other.options.select === false),
    );
  const ranged = new Map<string, TypeOfColumn>();
  for (const { propertyName, options } of columns) {
    const { type = 'json', array: isArray = false, select } = options;
    const name = columnTypeOf({ type, isArray });
    if (
      sorts.includes(propertyName) &&
      select !== false &&
      name &&
      flagsOf(name).includes('interval')
    ) {
      ranged.set(propertyName, { type, isArray });
    }
  }
  const filters = query ? [...parametersOf(query).keys()] : [];
  const presence = new Map<string, string>();
  for (const filter of filters) {
    const { end, column = '' } = namedColumn(entity, filter) ?? {};
    if (end === 'Exists' && tallied.includes(column)) presence.set(filter, column);
  }
  const fields = columns
    .map(({ propertyName }) => propertyName)
    .filter((name) => tallied.includes(name) || ranged.has(name));
  const names = fields.flatMap((field) => [
    field,
    ...[...presence].flatMap(([filter, column]) => (column === field ? [filter] : [])),
  ]);
  const counted = fields.filter((name) => tallied.includes(name));
  const isFiltered = query && parametersOf(query).has(WITHIN) && !names.includes(WITHIN);
  const tree = isFiltered ? treeColumnOf(entity, counted) : undefined;
  const within = tree === undefined ? [] : [WITHIN];
  const search = query && searchOf(entity, query, names);
  return {
    names: [...names, ...within, ...(search === undefined ? [] : [search])],
    counted,
    valued: [...counted, ...within],
    presence,
    ranged,
    tree,
    search,
  };
}

/** The filter that searches for words in a searched column, unless a field has its name. */
function searchOf(
  entity: Type,
  query: ListQueryClass,
  names: readonly string[],
): string | undefined {
  if (declaredColumns({ target: entity }).searched.length === 0) return undefined;
  const search = searchParameterOf(query.prototype as object);
  return search === undefined || names.includes(search) ? undefined : search;
}

/** The counted columns of an entity by themselves: those of single values, and arrays. */
export function countedFieldsOf(metadata: Pick<EntityMetadata, 'target'>): string[] {
  return [...singleCountedColumnsOf(metadata), ...declaredColumns(metadata).items];
}

/**
 * The counted column that the filter `within` compares; `undefined` unless it is the only reference to a tree. The filter
 * of a tree itself compares the identifier.
 */
function treeColumnOf(entity: Type, counted: readonly string[]): string | undefined {
  const [tree, ...others] = treeReferences(entity);
  if (tree === undefined || others.length > 0 || relatedEntity(entity, tree) === entity) {
    return undefined;
  }
  return counted.includes(tree) && relatedName(tree) !== undefined ? tree : undefined;
}

/** The column that a field is about. */
export function columnNamed({ presence, tree }: CountableFields, name: string): string {
  return name === WITHIN && tree !== undefined ? tree : (presence.get(name) ?? name);
}
