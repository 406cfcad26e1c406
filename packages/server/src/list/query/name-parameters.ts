import type { ObjectType } from 'typeorm';
import { errors } from '../../http/errors.js';
import {
  InvalidValue,
  isAllowed,
  Parameter,
  type ParameterSettings,
} from '../../http/parameters/declared-parameters.js';
import { primaryColumnOf } from '../../resource/resource.js';
import { RELEVANCE, type SortKey } from './list-query.dto.js';
import { arrayOf, mustBe } from './parameters.js';

const BY_RELEVANCE = 'relevance';

/**
 * Names, separated by commas. Property: `string[]`, in the order in which they are allowed.
 *
 * @param what the names are, for an error response
 * @param allowedNames those that a client may name. Read on demand: an entity may be declared after another that refers
 * to it
 * @param defaultNames those that are meant without the parameter, unless that is none
 */
export function NamesParam(
  meaning: string,
  what: string,
  example = '',
  allowedNames: (settings: ParameterSettings) => readonly string[],
  defaultNames?: (settings: ParameterSettings) => readonly string[],
): PropertyDecorator {
  const schema = (settings: ParameterSettings) => ({
    ...arrayOf({ type: 'string', enum: allowedNames(settings) }),
    ...(defaultNames && { default: defaultNames(settings) }),
  });
  const read = (text: string, settings: ParameterSettings): string[] | InvalidValue => {
    const allowed = allowedNames(settings);
    const names = namesIn(text);
    if (names.includes('')) return mustBe(`${what}, separated by commas`);
    const unknown = names.find((name) => !allowed.includes(name));
    if (unknown !== undefined) return mustName(unknown, allowed);
    return allowed.filter((name) => names.includes(name));
  };
  return Parameter({ meaning, schema, example, read, reads: [] });
}

/**
 * The order of an entity's list. Property: `SortKey[]`.
 *
 * @param search the parameter by whose relevance the list can be ordered, of the class `query`
 */
export function SortParam(
  entity: ObjectType<unknown>,
  columns: readonly string[],
  query: { readonly name: string; readonly prototype: object },
  search: string | undefined,
): PropertyDecorator {
  const relevanceFor = (settings: ParameterSettings): string[] =>
    search !== undefined && isAllowed(query, search, settings) ? [BY_RELEVANCE] : [];
  const read = (text: string, settings: ParameterSettings): readonly SortKey[] | InvalidValue => {
    const allowed = [...relevanceFor(settings), ...settings.rights.seen(entity, columns)];
    const keys = namesIn(text).map((name): SortKey =>
      name.startsWith('-')
        ? { field: name.slice(1), direction: 'DESC' }
        : { field: name, direction: 'ASC' },
    );
    const fields = keys.map(({ field }) => field);
    if (fields.includes('')) {
      return mustBe('names of fields, separated by commas, each with a - before it or not');
    }
    const unknown = fields.find((field) => !allowed.includes(field));
    if (unknown !== undefined) return mustName(unknown, allowed);
    // The first of two keys by the same field decides the order alone.
    const deciding = keys.filter(({ field }, at) => fields.indexOf(field) === at);
    if (search === undefined || !fields.includes(BY_RELEVANCE)) return deciding;
    if (keys.some((key) => key.field === BY_RELEVANCE && key.direction === 'DESC')) {
      return mustName(`-${BY_RELEVANCE}`, allowed);
    }
    if (fields[0] !== BY_RELEVANCE) {
      return mustBe(`names of fields, ${BY_RELEVANCE} before all others`);
    }
    return [{ field: RELEVANCE, direction: 'ASC' }, ...deciding.slice(1)];
  };
  return Parameter({
    meaning:
      'The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field.',
    schema: (settings) => ({
      ...arrayOf({
        type: 'string',
        enum: [
          ...relevanceFor(settings),
          ...settings.rights.seen(entity, columns).flatMap((name) => [name, `-${name}`]),
        ],
      }),
      default: [primaryColumnOf(entity)?.propertyName],
    }),
    example: columns.join(),
    read,
    reads: [],
    readBeside: (keys, query) => {
      const [first] = keys as readonly SortKey[];
      return first?.field === RELEVANCE && search !== undefined && query[search] === undefined
        ? mustBe(`given with ${search} if it names ${BY_RELEVANCE}`)
        : keys;
    },
  });
}

export function namesIn(text: string): string[] {
  return text.split(',').map((name) => name.replace(/^ +| +$/g, ''));
}

/** An invalid value that gets `-25`: it names what is not allowed. */
function mustName(value: string, allowed: readonly string[]): InvalidValue {
  return new InvalidValue((name) =>
    errors.nameUnknown(name, value.toWellFormed(), allowed.join(', ')),
  );
}
