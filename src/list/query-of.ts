import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { errors } from '../http/errors.js';
import { InvalidValue } from '../http/invalid-value.js';
import { ListQueryDto, type ObjectQueryDto, type SortKey } from './list-query.dto.js';
import { mustBe, Parameter } from './parameters.js';

type QueryClass = abstract new () => ObjectQueryDto;

/**
 * Gives a query class the parameter `fields` over the entity's public columns and, if it is a
 * list's, the parameter `sort` over the columns named.
 */
export function QueryOf<Entity>(
  entity: ObjectType<Entity>,
  options: { sort?: (keyof Entity & string)[] } = {},
): (query: QueryClass) => void {
  return (query) => {
    const fields = publicFields(entity);
    Parameter(fields[0] ?? '', fieldsAmong(fields))(query.prototype as object, 'fields');
    if (query.prototype instanceof ListQueryDto) {
      const { sort = [] } = options;
      Parameter(sort.join(), sortAmong(sort))(query.prototype, 'sort');
    }
  };
}

/** The names of an entity's public columns, in the order declared; `select: false` hides one. */
function publicFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ options }) => options.select !== false)
    .map(({ propertyName }) => propertyName);
}

function fieldsAmong(allowed: readonly string[]) {
  return (text: string): string[] | InvalidValue => {
    const names = split(text);
    if (names.includes('')) return mustBe('names of fields, separated by commas');
    const unknown = names.find((name) => !allowed.includes(name));
    if (unknown !== undefined) return mustName(unknown, allowed);
    return allowed.filter((name) => names.includes(name));
  };
}

function sortAmong(allowed: readonly string[]) {
  return (text: string): SortKey[] | InvalidValue => {
    const keys = split(text).map((name): SortKey =>
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
    if (new Set(fields).size < fields.length) return mustBe('names of fields, each only once');
    return keys;
  };
}

function split(text: string): string[] {
  return text.split(',').map((name) => name.replace(/^ +| +$/g, ''));
}

function mustName(value: string, allowed: readonly string[]): InvalidValue {
  return new InvalidValue((name) =>
    errors.nameUnknown(name, value.toWellFormed(), allowed.join(', ')),
  );
}
