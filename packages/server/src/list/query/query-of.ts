import {
  type DataSource,
  type EntityMetadata,
  getMetadataArgsStorage,
  type ObjectType,
} from 'typeorm';
import {
  type Children,
  declareChildren,
  relatedEntity,
  relatedName,
} from '../../resource/relations.js';
import type { Rights } from '../../resource/visibility.js';
import { isListedBy } from '../../resource/declaration.js';
import {
  computedFields,
  pluralName,
  primaryColumnOf,
  resourceName,
} from '../../resource/resource.js';
import { entityOf, ownParameters, setEntity } from '../../http/parameters/declared-parameters.js';
import { ListQueryDto, type ObjectQueryDto } from './list-query.dto.js';
import { NamesParam, SortParam } from './name-parameters.js';
import { DateTimeParam, mustBe, TypedIdentifier } from './parameters.js';
import { SinceParam } from './since.js';
import { searchParameterOf } from './search-text.js';

const READS = Symbol('reads');
const SORTS = Symbol('sorts');

type QueryClass = abstract new () => ObjectQueryDto;
export type ListQueryClass = new () => ListQueryDto;

/** The parameters that `@QueryOf` declares for any entity, or could. They are no filters. */
export const DECLARED = [
  'fields',
  'after',
  'include',
  'sort',
] as const satisfies readonly (keyof ListQueryDto)[];

/** The query class of each entity's list: the first one that is decorated. */
const LIST_QUERIES = new WeakMap<ObjectType<unknown>, ListQueryClass>();

/** What the parameters of a list may name. */
interface ListOptions<Entity> {
  /** Columns for `sort`. Default: none. */
  readonly sort?: readonly (keyof Entity & string)[];
  /**
   * Columns that refer to objects of other resources with `@ForeignKey`, and `children(…)` that refer to the objects of
   * this one, for `include`. The object that `brandID` refers to is called `brand`. Default: none.
   */
  readonly include?: readonly ((keyof Entity & string) | Children)[];
  /**
   * What SQL of an author reads besides the table of the entity: that of `Raw`, and of computed fields, also those of
   * related objects. A resource is named by its entity: a list that uses such SQL changes its version with it. Anything
   * else is named by a text: another table, a view, a function that is not immutable, or the time. A list that reads such
   * a thing has no entity tag, and is read for every request.
   *
   * Default: it is not known. Then a list that uses SQL has no entity tag, and is refused if any resource has a scope.
   */
  readonly reads?: readonly (ObjectType<unknown> | string)[];
}

/**
 * Sets the entity of a query class and declares the parameter `fields`, and `include` if there are columns for
 * it. For a list it also declares:
 *
 * - `after` and `sort`
 * - `updatedSince` and `updatedUntil` if the entity has an `@UpdateDateColumn`
 * - `createdSince` and `createdUntil` if lists are filtered or sorted by its `@CreateDateColumn`, which then has an
 *   index
 *
 * With a parameter of `@WordsParam`, `sort` may name `relevance`.
 *
 * @throws TypeError if `sort` names a computed field, or if the class has one of these parameters already
 */
export function QueryOf<Entity>(
  entity: ObjectType<Entity>,
  { sort = [], include = [], reads }: ListOptions<Entity> = {},
): (query: QueryClass) => void {
  const computed = computedFields(entity).find((name) => sort.some((each) => each === name));
  if (computed !== undefined) {
    throw new TypeError(`${entity.name} cannot be sorted by ${computed}, which no index holds`);
  }
  return (query) => {
    const taken = DECLARED.find((name) => ownParameters(query).has(name));
    if (taken !== undefined) {
      throw new TypeError(`${query.name} declares ${taken}, which @QueryOf declares once`);
    }
    setEntity(query, entity);
    if (reads) Reflect.defineMetadata(READS, readsFrom(reads), query);
    Reflect.defineMetadata(SORTS, sort, query);
    const prototype = query.prototype as object;
    const isList = prototype instanceof ListQueryDto;
    if (isList) {
      declareTimes(entity, prototype);
      if (!LIST_QUERIES.has(entity)) LIST_QUERIES.set(entity, query as ListQueryClass);
    }
    const own = publicFields(entity);
    const included = include.map((each) => includedOf(entity, each, own));
    const includedFor = (rights: Rights): Included[] =>
      included.filter(({ by }) => rights.seesRelated(entity, by));
    NamesParam(
      'The fields of each object, in the order of the resource.',
      'names of fields',
      own[0],
      ({ rights }) => [
        ...rights.seen(entity, own),
        ...includedFor(rights).flatMap(({ name, of }) =>
          rights.seen(of(), publicFields(of())).map((field) => `${name}.${field}`),
        ),
      ],
      ({ rights }) => rights.seen(entity, own),
    )(prototype, 'fields');
    if (included.length > 0) {
      NamesParam(
        'The related objects of each object: one that it refers to, or null; or a list of those that refer to it, beside `<name>Count`, the number of all of them. `fields` names fields of them as `<name>.<field>`.',
        'names of related objects',
        included[0]?.name,
        ({ rights }) => includedFor(rights).map(({ name }) => name),
      )(prototype, 'include');
    }
    if (!isList) return;
    TypedIdentifier(
      'The page begins behind the object with this identifier, in the order of the list; not together with offset.',
      primaryColumnOf(entity)?.options.type,
      (after, { offset }) => (offset === undefined ? after : mustBe('given without offset')),
    )(prototype, 'after');
    SortParam(entity, sort, query, searchParameterOf(prototype))(prototype, 'sort');
  };
}

/** What `include` may name: a related object, or children. */
interface Included {
  readonly name: string;
  readonly of: () => ObjectType<unknown>;
  /** The column that refers to it, or the children. */
  readonly by: string | Children;
}

/** @param fields of the entity, whose names are taken */
function includedOf(
  entity: ObjectType<unknown>,
  each: string | Children,
  fields: readonly string[],
): Included {
  return typeof each === 'string'
    ? { name: relatedNameOf(each, fields), of: () => relatedEntity(entity, each), by: each }
    : { name: childrenNameOf(entity, each, fields), of: () => each.entity, by: each };
}

function declareTimes(entity: ObjectType<unknown>, prototype: object): void {
  const objects = pluralName(entity);
  const declare = (name: 'created' | 'updated', since: string, until = since): void => {
    const Since = name === 'updated' ? SinceParam : DateTimeParam;
    Since(`The ${objects} ${since} at this time or later.`)(prototype, `${name}Since`);
    DateTimeParam(`The ${objects} ${until} before this time.`)(prototype, `${name}Until`);
  };
  for (const { mode, propertyName } of getMetadataArgsStorage().filterColumns(entity)) {
    if (mode === 'updateDate') declare('updated', 'changed', 'changed last');
    if (mode === 'createDate' && isListedBy(entity, propertyName)) {
      declare('created', 'first stored');
    }
  }
}

/** What SQL of an author reads, as its query class says. */
interface Reads {
  /** The names of resources. */
  readonly resources: readonly string[];
  /** The names of anything else. */
  readonly others: readonly string[];
}

function readsFrom(reads: readonly (ObjectType<unknown> | string)[]): Reads {
  const isName = (each: ObjectType<unknown> | string): each is string => typeof each === 'string';
  return {
    resources: reads.flatMap((each) => (isName(each) ? [] : [resourceName(each)])),
    others: reads.filter(isName),
  };
}

/** What the SQL of lists and objects with a query class reads; `undefined`: it does not say. */
export function readsOf(query: object): Reads | undefined {
  return Reflect.getMetadata(READS, query) as Reads | undefined;
}

/** The columns that `sort` may name, by the query class of a list. */
export function sortsOf(query: object): readonly string[] {
  return (Reflect.getMetadata(SORTS, query) as readonly string[] | undefined) ?? [];
}

/** A handler reads another entity than that of its query class, or one of another database. */
export class WrongEntityError extends TypeError {}

/**
 * Checks that a query is of the class of an entity, or of none.
 *
 * @throws WrongEntityError if it is of another entity
 */
export function requireEntity(query: object, entity: EntityMetadata['target']): void {
  const declared = entityOf(query.constructor);
  if (!declared || declared === entity) return;
  const name = typeof entity === 'function' ? entity.name : entity;
  throw new WrongEntityError(
    `${query.constructor.name} is @QueryOf(${declared.name}), and its handler reads ${name}`,
  );
}

/** @throws WrongEntityError for an entity of another database than that of the service */
export function requireDatabase({ name, dataSource }: EntityMetadata, own: DataSource): void {
  const [url, ownUrl] = [dataSource, own].map(({ options }) => 'url' in options && options.url);
  if (url === ownUrl) return;
  throw new WrongEntityError(
    `${name} is of another database: lists are read from that of the service`,
  );
}

/** The query class of an entity's list; `undefined` if none is decorated with `@QueryOf` yet. */
export function listQueryOf(entity: ObjectType<unknown>): ListQueryClass | undefined {
  return LIST_QUERIES.get(entity);
}

/** The names of an entity's public columns, in the order declared: all except `select: false`. */
function publicFields(entity: ObjectType<unknown>): string[] {
  return getMetadataArgsStorage()
    .filterColumns(entity)
    .filter(({ options }) => options.select !== false)
    .map(({ propertyName }) => propertyName);
}

/**
 * The name of the children of an entity.
 *
 * @throws TypeError if it, or that of their number, is the name of a field, or if they are sorted by a computed field
 */
function childrenNameOf(
  entity: ObjectType<unknown>,
  children: Children,
  fields: readonly string[],
): string {
  const name = declareChildren(entity, children);
  const { entity: child, sort = '' } = children;
  const column = sort.replace('-', '');
  if (computedFields(child).includes(column)) {
    throw new TypeError(`${child.name} cannot be sorted by ${column}, which no index holds`);
  }
  const taken = [name, `${name}Count`].find((each) => fields.includes(each));
  if (taken === undefined) return name;
  throw new TypeError(`${entity.name} cannot include ${name}: it has a field ${taken}`);
}

/**
 * The name of the object that a column refers to.
 *
 * @throws TypeError if it has none, or that of a field
 */
function relatedNameOf(column: string, fields: readonly string[]): string {
  const name = relatedName(column);
  if (name === undefined || fields.includes(name)) {
    throw new TypeError(`The object of ${column} needs a name of its own: the column without ID`);
  }
  return name;
}
