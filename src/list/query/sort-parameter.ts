import type { ObjectType } from 'typeorm';
import type { DeclaredParameter } from '../../http/parameters/declared-parameters.js';
import type { InvalidValue } from '../../http/parameters/invalid-value.js';
import { primaryColumnOf } from '../../resource/resource.js';
import { RELEVANCE, type SortKey } from './list-query.dto.js';
import { mustName, namesIn } from './names.js';
import { arrayOf, mustBe } from './parameters.js';

/** The name of the order by relevance. */
const BY_RELEVANCE = 'relevance';

/**
 * The parameter `sort` of an entity's list.
 *
 * @param search the parameter with which the order by relevance is allowed
 */
export function sortParameter(
  entity: ObjectType<unknown>,
  allowed: readonly string[],
  search: string | undefined,
): DeclaredParameter {
  const identifier = primaryColumnOf(entity)?.propertyName;
  const columns = allowed.flatMap((name) => [name, `-${name}`]);
  const names = search === undefined ? columns : [BY_RELEVANCE, ...columns];
  return {
    meaning:
      'The order, by these fields, `-` before one for descending; ties are ordered by identifier, in the direction of the last field.',
    schema: {
      ...arrayOf({ type: 'string', enum: names }),
      default: [identifier],
    },
    example: allowed.join(),
  };
}

/** Reads the order of a list. The parameters are those of `sortParameter`. */
export function sortReader(columns: readonly string[], search: string | undefined) {
  const allowed = search === undefined ? columns : [BY_RELEVANCE, ...columns];
  return (text: string): SortKey[] | InvalidValue => {
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
    const isReversed = keys.some(
      ({ field, direction }) => field === BY_RELEVANCE && direction === 'DESC',
    );
    if (search !== undefined && isReversed) return mustName(`-${BY_RELEVANCE}`, allowed);
    // The first of two keys by the same field decides the order alone.
    const deciding = keys.filter(({ field }, at) => fields.indexOf(field) === at);
    const at = search === undefined ? -1 : fields.indexOf(BY_RELEVANCE);
    if (at < 0) return deciding;
    if (at > 0) return mustBe(`names of fields, ${BY_RELEVANCE} before all others`);
    return [{ field: RELEVANCE, direction: 'ASC' }, ...deciding.slice(1)];
  };
}
