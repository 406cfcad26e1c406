import type { Type } from '@nestjs/common';
import { getMetadataArgsStorage } from 'typeorm';
import { parametersOf } from '../../http/parameters/declared-parameters.js';
import { COLUMN_TYPES } from '../../resource/column-types.js';
import { columnTypeOf } from '../../resource/column-values.js';
import { treeReferences } from '../../resource/references.js';
import { declaredColumns } from '../../resource/declaration.js';
import { singleCountedColumnsOf } from '../../resource/resource.js';
import { listQueryOf, sortsOf } from '../query/query-of.js';

/** The name of the field, and of the filter, that is about a tree. */
export const WITHIN = 'within';

/** What `facets` may name for a resource. */
export interface FacetFields {
  /** All names: public columns first, as the entity declares them, hidden ones, and `within`. */
  readonly names: readonly string[];
  /** The single counted columns. Their values are counted. */
  readonly counted: readonly string[];
  /** The numbers and times that lists sort by. They have limits, and objects between bounds. */
  readonly ranged: readonly string[];
  /** The counted column that refers to the tree of the filter `within`; absent if there is no such filter, or column. */
  readonly tree: string | undefined;
}

/** The fields of an entity that facet counts may name. */
export function facetFieldsOf(entity: Type): FacetFields {
  const query = listQueryOf(entity);
  const sorts = query ? sortsOf(query) : [];
  const { items } = declaredColumns({ target: entity });
  const counted = [...singleCountedColumnsOf({ target: entity }), ...items];
  const columns = getMetadataArgsStorage()
    .filterColumns(entity)
    .toSorted(
      (one, other) => Number(one.options.select === false) - Number(other.options.select === false),
    );
  const ranged = columns
    .filter(({ propertyName, options }) => {
      const { type: name = 'json', array: isArray = false } = options;
      const type = columnTypeOf({ type: name, isArray });
      const flags: readonly string[] = type ? COLUMN_TYPES[type].flags : [];
      return sorts.includes(propertyName) && flags.includes('interval');
    })
    .map(({ propertyName }) => propertyName);
  const names = columns
    .map(({ propertyName }) => propertyName)
    .filter((name) => counted.includes(name) || ranged.includes(name));
  // Of several columns it is not known which one the filter compares.
  const [tree, ...others] = treeReferences(entity).filter((name) => counted.includes(name));
  const isTree = query && parametersOf(query).has(WITHIN) && !names.includes(WITHIN);
  return {
    names: [...names, ...(isTree && tree && others.length === 0 ? [WITHIN] : [])],
    counted: names.filter((name) => counted.includes(name)),
    ranged,
    tree: isTree && others.length === 0 ? tree : undefined,
  };
}

/** The column that a field is about. */
export function columnNamed({ tree }: FacetFields, name: string): string {
  return name === WITHIN && tree !== undefined ? tree : name;
}
