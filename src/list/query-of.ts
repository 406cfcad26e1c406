import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { pluralName } from '../resource/resource.js';
import type { DeclaredParameter } from '../http/parameters/declared-parameters.js';
import { errors } from '../http/errors.js';
import { InvalidValue } from '../http/parameters/invalid-value.js';
import { ListQueryDto, type ObjectQueryDto, type SortKey } from './list-query.dto.js';
import { arrayOf, DateTimeParam, mustBe, Parameter } from './parameters.js';

const ENTITY = Symbol('entity');

type QueryClass = abstract new () => ObjectQueryDto;

/**
 * Sets the entity of a query class and declares the parameter `fields`. For a list it also declares
 * `sort`, and `updatedSince` if the entity has an `@UpdateDateColumn`.
 *
 * @param options.sort the columns that `sort` may name; default: none
 */
export function QueryOf<Entity>(
  entity: ObjectType<Entity>,
  options: { sort?: (keyof Entity & string)[] } = {},
): (query: QueryClass) => void {
  return (query) => {
    Reflect.defineMetadata(ENTITY, entity, query);
    const prototype = query.prototype as object;
    const isList = prototype instanceof ListQueryDto;
    const columns = getMetadataArgsStorage().filterColumns(entity);
    if (isList && columns.some(({ mode }) => mode === 'updateDate')) {
      const objects = pluralName(entity);
      DateTimeParam(`The ${objects} changed at this time or later.`)(prototype, 'updatedSince');
    }
    const fields = publicFields(entity);
    const declared = {
      meaning:
        'The fields that each object shall have, in the order of the resource; all unless given.',
      schema: arrayOf({ type: 'string', enum: fields }),
      example: fields[0] ?? '',
    } as const;
    Parameter(declared, fieldsReader(fields))(prototype, 'fields');
    if (isList) {
      const { sort = [] } = options;
      Parameter(sortParameter(entity, sort), sortReader(sort))(prototype, 'sort');
    }
  };
}

/** The entity of a query class; `undefined` for a class without `@QueryOf`. */
export function entityOf(query: object): ObjectType<unknown> | undefined {
  return Reflect.getMetadata(ENTITY, query) as ObjectType<unknown> | undefined;
}

function sortParameter(entity: ObjectType<unknown>, allowed: readonly string[]): DeclaredParameter {
  const identifier = getMetadataArgsStorage()
    .filterColumns(entity)
    .find(({ options }) => options.primary)?.propertyName;
  const names = allowed.flatMap((name) => [name, `-${name}`]);
  return {
    meaning:
      'The order, by these fields, `-` before one for descending; ties are ordered by identifier.',
    schema: {
      ...arrayOf({ type: 'string', enum: names }),
      maxItems: allowed.length,
      uniqueItems: true,
      default: [identifier],
    },
    example: allowed.join(),
  };
}

/** The names of an entity's public columns, in the order declared: all except `select: false`. */
function publicFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ options }) => options.select !== false)
    .map(({ propertyName }) => propertyName);
}

function fieldsReader(allowed: readonly string[]) {
  return (text: string): string[] | InvalidValue => {
    const names = split(text);
    if (names.includes('')) return mustBe('names of fields, separated by commas');
    const unknown = names.find((name) => !allowed.includes(name));
    if (unknown !== undefined) return mustName(unknown, allowed);
    return allowed.filter((name) => names.includes(name));
  };
}

function sortReader(allowed: readonly string[]) {
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
