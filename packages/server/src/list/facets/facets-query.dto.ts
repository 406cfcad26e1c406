import type { Type } from '@nestjs/common';
import { CommandError } from '../../command-error.js';
import {
  CredentialsQueryDto,
  InvalidValue,
  Parameter,
  parametersOf,
  setEntity,
} from '../../http/parameters/declared-parameters.js';
import { isTextOf, NAME_LENGTH } from '../../resource/formats.js';
import { NON_FILTERS } from '../condition/filters.js';
import { limitBounds } from '../query/list-query.dto.js';
import { NamesParam } from '../query/name-parameters.js';
import { arrayOf, IntegerParam, mustBe } from '../query/parameters.js';
import type { ListQueryClass } from '../query/query-of.js';
import { searchText, wordCount } from '../query/search-text.js';
import {
  type CountableFields,
  countableFieldsOf,
  countedByDefault,
  visibleFields,
} from './countable-fields.js';
import { readBounds } from './ranges.js';

/** The parameters of facet counts that are no filters, besides those of every list. */
export const FACET_PARAMETERS: readonly string[] = ['facets', 'facetStarts', 'bounds'];

/** Most bounds of intervals. Each costs a lookup in the tally. */
export const MAXIMUM_BOUNDS = 50;

/**
 * The query parameters of facet counts. `declareFacets` declares `facets`, `facetStarts`, `bounds` if there are numbers or
 * times, and the filters of the list.
 */
export abstract class FacetsQueryDto extends CredentialsQueryDto {
  @IntegerParam('Most values of each field; 0 answers with the count alone.', limitBounds, {
    reads: [],
  })
  limit?: number;

  /** How the values begin, or their labels. */
  declare facetStarts?: string;

  /** The names of fields to count, in the order of `CountableFields.names`. Default: `countedByDefault`. */
  declare facets?: readonly string[];

  /** In the public form of the field that they bound. */
  declare bounds?: readonly string[];

  /** What `facets` may name, whatever the client sees. */
  abstract get countable(): CountableFields;
}

function readStart(text: string): string | InvalidValue {
  const isShort = isTextOf(text, 1, NAME_LENGTH);
  return isShort && wordCount(searchText(text)) > 0
    ? text
    : mustBe(`text of 1 to ${NAME_LENGTH} characters, with a letter or a digit`);
}

function splitBounds(text: string): string[] | InvalidValue {
  const bounds = text.split(',');
  return bounds.length <= MAXIMUM_BOUNDS
    ? bounds
    : mustBe(`1 to ${MAXIMUM_BOUNDS} values, separated by commas`);
}

/** Reads a value that is about the one field that `facets` names. An invalid `facets` has an error of its own. */
function readAboutOne(
  fields: readonly string[],
  query: Readonly<Record<string, unknown>>,
  read: (field: string) => unknown,
): unknown {
  const { facets = [] } = query as { facets?: readonly string[] | InvalidValue };
  if (facets instanceof InvalidValue) return undefined;
  const [name, ...others] = facets;
  return name !== undefined && others.length === 0 && fields.includes(name)
    ? read(name)
    : mustBe(`given with facets as one of ${fields.join(', ')}`);
}

/** The query classes of facet counts, by that of the list. */
const CLASSES = new WeakMap<ListQueryClass, Type<FacetsQueryDto>>();

/**
 * The query class of the facet counts of a list, made once.
 *
 * @throws CommandError as `declareFacets`
 */
export function facetsQueryOf(entity: Type, list: ListQueryClass): Type<FacetsQueryDto> {
  let query = CLASSES.get(list);
  if (!query) {
    const fields = countableFieldsOf(entity);
    class FacetsDto extends FacetsQueryDto {
      override get countable(): CountableFields {
        return fields;
      }
    }
    declareFacets(FacetsDto, entity, list, fields);
    CLASSES.set(list, (query = FacetsDto));
  }
  return query;
}

/**
 * Sets the entity of a query class of facet counts, and declares its parameters.
 *
 * @param fields what the parameter `facets` may name
 * @throws CommandError if the list has a filter with the name of a parameter of the facet counts
 */
function declareFacets(
  query: Type<FacetsQueryDto>,
  entity: Type,
  list: ListQueryClass,
  fields: CountableFields,
): void {
  setEntity(query, entity);
  const prototype = query.prototype as object;
  const filters = new Map([...parametersOf(list)].filter(([name]) => !NON_FILTERS.has(name)));
  const taken = FACET_PARAMETERS.find((name) => filters.has(name));
  if (taken !== undefined) {
    throw new CommandError(`${list.name} has a filter ${taken}, a parameter of the facet counts`);
  }
  const near =
    fields.search === undefined
      ? ''
      : ` \`${fields.search}\`: up to five texts near one that finds nothing, if it is named.`;
  NamesParam(
    `The fields to count, in the order of the resource. Numbers, times, trees and what tells whether there is a value are counted if they are named.${near}`,
    'names of fields',
    fields.names[0],
    ({ rights }) => visibleFields(entity, fields, rights).names,
    ({ rights }) => countedByDefault(visibleFields(entity, fields, rights)),
  )(prototype, 'facets');
  Parameter({
    meaning:
      'The values that begin so, or whose label does, whatever their case and accents. Requires `facets` to name one field.',
    schema: { type: 'string', minLength: 1, maxLength: NAME_LENGTH },
    reads: [],
    read: readStart,
    readBeside: (start, query, { rights }) =>
      query.bounds === undefined
        ? readAboutOne(visibleFields(entity, fields, rights).valued, query, () => start)
        : mustBe('given without bounds'),
  })(prototype, 'facetStarts');
  if (fields.ranged.size > 0) {
    Parameter({
      meaning: `The bounds of intervals, in ascending order, at most ${MAXIMUM_BOUNDS}: the objects in each are counted. Requires \`facets\` to name one number or time. The lower bound belongs to an interval, the upper one does not.`,
      schema: arrayOf({ type: 'string' }),
      reads: [],
      example: '10,50',
      read: splitBounds,
      readBeside: (texts, query, { rights }) => {
        const { ranged } = visibleFields(entity, fields, rights);
        return readAboutOne([...ranged.keys()], query, (name) => {
          const type = ranged.get(name);
          return type && readBounds(type, texts as string[]);
        });
      },
    })(prototype, 'bounds');
  }
  for (const [name, parameter] of filters) Parameter(parameter)(prototype, name);
}
