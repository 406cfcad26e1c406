import type { Type } from '@nestjs/common';
import { getMetadataStorage } from 'class-validator';
import { getMetadataArgsStorage } from 'typeorm';
import { CredentialsQueryDto } from '../../http/parameters/credentials-query.dto.js';
import {
  type DeclaredParameter,
  Parameter,
  parametersOf,
} from '../../http/parameters/declared-parameters.js';
import { rulesOf } from '../../http/parameters/parameters.pipe.js';
import { singleCountedColumnsOf } from '../../resource/resource.js';
import { NON_FILTERS } from '../condition/filters.js';
import { limitBounds, type ListQueryDto } from '../query/list-query.dto.js';
import { NamesParam } from '../query/name-parameters.js';
import { IntegerParam } from '../query/parameters.js';
import { type ListQueryClass, setEntity } from '../query/query-of.js';

/**
 * The query parameters of facet counts. `@FacetsOf` declares `facets`, and the filters of the list.
 */
export abstract class FacetsQueryDto extends CredentialsQueryDto {
  @IntegerParam('Most values of each field; 0 answers with the count alone.', limitBounds)
  limit?: number;

  /** The fields to count, in the order of `facetFieldsOf`. Default: all. */
  declare facets?: readonly string[];
}

/**
 * The fields of an entity whose values are counted: its single counted columns, the public ones first, as
 * the entity declares them.
 */
export function facetFieldsOf(entity: Type): string[] {
  const counted = singleCountedColumnsOf({ target: entity });
  const columns = getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ propertyName }) => counted.includes(propertyName));
  const isHidden = ({ options }: (typeof columns)[number]): number =>
    Number(options.select === false);
  return columns
    .toSorted((one, other) => isHidden(one) - isHidden(other))
    .map(({ propertyName }) => propertyName);
}

/**
 * Sets the entity of a query class of facet counts, and declares its parameters.
 *
 * @param fields the values of the parameter `facets`
 * @throws TypeError if the list has a filter of that name
 */
export function FacetsOf(
  entity: Type,
  list: ListQueryClass,
  fields: readonly string[],
): (query: Type<FacetsQueryDto>) => void {
  return (query) => {
    setEntity(query, entity);
    const prototype = query.prototype as object;
    const filters = filtersOf(list);
    if (filters.has('facets')) {
      throw new TypeError(`${list.name} has a filter facets, a parameter of the facet counts`);
    }
    NamesParam(
      'The fields whose values are counted, in the order of the resource; all unless given.',
      'names of fields',
      fields[0],
      () => fields,
    )(prototype, 'facets');
    for (const [name, parameter] of filters) Parameter(parameter)(prototype, name);
    // What class-validator checks besides.
    for (const rule of rulesOf(list)) {
      if (!filters.has(rule.propertyName)) continue;
      getMetadataStorage().addValidationMetadata(
        Object.assign(Object.create(rule) as typeof rule, { target: query }),
      );
    }
  };
}

/** The query of a list with the filters of another query. */
export function listQueryFrom(list: ListQueryClass, query: FacetsQueryDto): ListQueryDto {
  const filters = filtersOf(list);
  const sent = Object.entries(query).filter(([name]) => filters.has(name));
  return Object.assign(new list(), Object.fromEntries(sent));
}

function filtersOf(list: ListQueryClass): Map<string, DeclaredParameter> {
  return new Map([...parametersOf(list)].filter(([name]) => !NON_FILTERS.has(name)));
}
