import { Column, Entity, type EntityMetadata, getMetadataArgsStorage, Index } from 'typeorm';
import { nameColumn } from './column-types.js';

/** The meaning of a field, and an example value. */
interface FieldMeaning {
  readonly meaning: string;
  readonly example?: string;
}

const MEANING = Symbol('meaning');

/**
 * Sets the meaning of a public column, or of a handler, for the OpenAPI document. The `comment` of the column is not
 * used, because it is part of the database schema.
 *
 * @param example a value; needed for a text, whose type does not suggest one
 */
export function Meaning(meaning: string, example?: string): PropertyDecorator {
  return Reflect.metadata(MEANING, { meaning, example });
}

/** The meaning of a field; `undefined` if it has no `@Meaning`. */
export function meaningOf(entity: object, field: string): FieldMeaning | undefined {
  const { prototype } = entity as { prototype: object };
  return Reflect.getMetadata(MEANING, prototype, field) as FieldMeaning | undefined;
}

const NATURAL_ORDERS = Symbol('natural orders');

/**
 * Declares the column by which lists are sorted that are to be sorted by a text, as people expect it: without regard to
 * case and accents, and with numbers in it compared as numbers. PostgreSQL keeps it by `natural_order` of `order.sql`. It is
 * hidden: `sorted` of `@Resource`, `sort` of `@QueryOf` and clients name the text.
 *
 * @param of the property of the text, which is declared above
 * @throws TypeError if no such column is declared above
 */
export function NaturalOrder<Text extends string>(
  of: Text,
): (prototype: Readonly<Record<Text, string | null>>, property: string) => void {
  return (prototype, property) => {
    const target = prototype.constructor;
    const source = getMetadataArgsStorage()
      .filterColumns(target)
      .find(({ propertyName }) => propertyName === of);
    if (!source)
      throw new TypeError(`${target.name}.${property} orders ${of}: declare that column above it`);
    const { name = of, nullable } = source.options;
    Column({
      ...nameColumn,
      nullable,
      select: false,
      insert: false,
      update: false,
      generatedType: 'STORED',
      asExpression: `natural_order("${name}")`,
    })(prototype, property);
    const orders = new Map([...naturalOrders(target), [of, property]]);
    Reflect.defineMetadata(NATURAL_ORDERS, orders, target);
  };
}

/** The columns with the natural order of others, by these. */
export function naturalOrders(target: EntityMetadata['target']): ReadonlyMap<string, string> {
  const orders = Reflect.getMetadata(NATURAL_ORDERS, target) as
    ReadonlyMap<string, string> | undefined;
  return orders ?? new Map<string, string>();
}

/** The property of the column by whose values a list is sorted that is to be sorted by a property. */
export function orderedBy(target: EntityMetadata['target'], property: string): string {
  return naturalOrders(target).get(property) ?? property;
}

const RESOURCE = Symbol('resource');

/** The declared resources by name, each with its external table, if it has one. */
const RESOURCES = new Map<string, ExternalTable | undefined>();

/** What lists do with the columns of a resource. Every name is a property of the entity. */
interface ListColumns<Column extends string> {
  /**
   * Columns whose values the tally counts, and combinations of columns. Of an array it counts the items, by
   * themselves. A list that is filtered by values of one of them, or of one of the combinations, takes its
   * count and the position of an offset from the tally, without reading every matching object.
   */
  readonly counted?: readonly (Column | readonly Column[])[];
  /**
   * Columns that filters compare. Each has an index, and every index of the lists carries the others as
   * far as they fit into its rows, so that an index alone answers a combination of filters.
   */
  readonly filtered?: readonly Column[];
  /**
   * Columns that lists are sorted by. Each has an index, and the tally finds an offset in their order: of all
   * objects, of those with values of one counted enumeration or boolean, and of those in an interval of the
   * column itself. A text with a `@NaturalOrder` stands for that.
   */
  readonly sorted?: readonly Column[];
  /**
   * Columns of type `tsvector` that a list searches for words. The tally counts the objects with a common
   * word, in all and with each value of each counted column.
   */
  readonly searched?: readonly Column[];
  /**
   * Intervals of sorted columns, such as prices. The tally counts the objects in them, also those with a value of a counted
   * column, an item of a counted array, or values of a combination that is named here.
   */
  readonly intervals?: readonly CountedIntervals<Column>[];
  /**
   * The columns from which others are derived, by a trigger, a computed field or `generatedType`. A client that does not
   * see one of them sees no column derived from it. Default: a derived column may be from any other.
   */
  readonly derived?: Readonly<Partial<Record<Column, readonly Column[]>>>;
}

/** The intervals of a sorted column. */
interface CountedIntervals<Column extends string> {
  /** The sorted column. */
  readonly of: Column;
  /** A combination of other columns. Name them in `filtered`, too: the objects at the ends of an interval are read. */
  readonly within?: readonly [Column, Column, ...Column[]];
}

/** A table, view, materialized view or foreign table that others create, change and write to. */
export interface ExternalTable {
  readonly schema: string;
  readonly name: string;
}

/** The record of a client, which a scope gets. */
export interface ClientRecord {
  readonly clientID: string;
}

type Where<Column extends string> = Readonly<Partial<Record<Column, unknown>>>;

/** Which objects of a resource a client sees. */
export interface Scope<Column extends string = string> {
  /** Every column that `where` may name. The deletions of the resource record them, too. */
  readonly columns: readonly Column[];
  /**
   * The condition for the objects that a client sees, as TypeORM's `where` takes it: several are combined
   * with OR, and `{}` is every object. No value may be `undefined` or null; a missing value is `IsNull()`.
   */
  readonly where: (client: ClientRecord) => Where<Column> | readonly Where<Column>[];
}

/** The options of a resource. */
interface ResourceOptions<Column extends string> extends ListColumns<Column> {
  /**
   * Lists an external table, which is only read: no migration changes it. It has none of `ListColumns`. Nothing counts
   * or versions its rows, or records deletions.
   * Default: the service has a table of its own, under the name of the resource.
   */
  readonly external?: ExternalTable;
  /** Restricts what each client sees. Default: every client sees every object. */
  readonly scope?: Scope<Column>;
}

/**
 * Declares an entity that is listed, imported and exported. An `@UpdateDateColumn` gets an index, for
 * the filter `updatedSince`. The compiler infers the entity from the class that is decorated, and reports a
 * misspelt column at its name.
 *
 * @param name the name of the resource, its path and, unless it is external, its table
 */
export function Resource<Entity extends object>(
  name: string,
  { external, scope, ...columns }: ResourceOptions<NoInfer<keyof Entity & string>> = {},
): (target: new () => Entity) => void {
  return (target) => {
    Entity(
      external ? { schema: external.schema, name: external.name, synchronize: false } : { name },
    )(target);
    RESOURCES.set(name, external);
    const properties = getMetadataArgsStorage().filterColumns(target);
    const counted = (columns.counted ?? []).map((names) =>
      typeof names === 'string' ? [names] : names,
    );
    const isItems = ([name, ...others]: readonly string[]): boolean =>
      others.length === 0 &&
      properties.some((column) => column.propertyName === name && column.options.array === true);
    const declared: Declared = {
      ...NOTHING,
      ...columns,
      sorted: (columns.sorted ?? []).map((property) => orderedBy(target, property)),
      derived: {
        ...Object.fromEntries([...naturalOrders(target)].map(([of, order]) => [order, [of]])),
        ...columns.derived,
      },
      name,
      external,
      scope,
      counted: counted.filter((names) => !isItems(names)),
      items: counted.filter(isItems).flat(),
    };
    Reflect.defineMetadata(RESOURCE, declared, target);
    const identifier = properties.find((column) => column.options.primary);
    for (const { mode, propertyName } of properties) {
      const meaning = TIME_MEANINGS[mode]?.(singularName(target));
      if (meaning !== undefined && !meaningOf(target, propertyName)) {
        Meaning(meaning)(target.prototype as object, propertyName);
      }
      if (mode === 'updateDate' && identifier && !isListedBy(target, propertyName)) {
        Index([propertyName, identifier.propertyName])(target);
      }
    }
  };
}

/** What lists do with the columns of an entity. A column that is counted by itself is a combination of one. */
interface DeclaredColumns extends Required<Omit<ListColumns<string>, 'counted'>> {
  readonly counted: readonly (readonly string[])[];
  /** The arrays whose items are counted. */
  readonly items: readonly string[];
}

interface Declared extends DeclaredColumns {
  readonly name: string;
  readonly external: ExternalTable | undefined;
  readonly scope: Scope | undefined;
}

/** What `@Resource` declares of an entity; `undefined` for an entity that is not a resource, such as a deletion. */
export function declaredOf({ target }: Pick<EntityMetadata, 'target'>): Declared | undefined {
  return typeof target === 'function'
    ? (Reflect.getMetadata(RESOURCE, target) as Declared | undefined)
    : undefined;
}

const NOTHING: DeclaredColumns = {
  counted: [],
  items: [],
  filtered: [],
  sorted: [],
  searched: [],
  intervals: [],
  derived: {},
};

/** What lists do with the columns of an entity; nothing for an entity that is not a resource. */
export function declaredColumns(metadata: Pick<EntityMetadata, 'target'>): DeclaredColumns {
  return declaredOf(metadata) ?? NOTHING;
}

/** The entity of the resource, by that of its deletions, which has only identifiers and times. */
export const DELETIONS = new WeakMap<object, EntityMetadata['target']>();

/** Whether the lists of an entity are filtered or sorted by a column, so that it has an index. */
export function isListedBy(target: EntityMetadata['target'], property: string): boolean {
  const { filtered, sorted } = declaredColumns({ target });
  return [...filtered, ...sorted].includes(property);
}

/** The external table that the resource of a name lists; `undefined` for a table of the service. */
export function externalTableNamed(resource: string): ExternalTable | undefined {
  return RESOURCES.get(resource);
}

/** Whether a resource of a name is declared. */
export function isResourceName(name: string): boolean {
  return RESOURCES.has(name);
}

/** The default meanings of the times that TypeORM sets, by column mode. */
const TIME_MEANINGS: Readonly<Partial<Record<string, (object: string) => string>>> = {
  createDate: (object) => `When the ${object} was first stored.`,
  updateDate: (object) => `When the ${object} was changed last.`,
};

/** The name of one object of an entity: `order item` for the class `OrderItem`. */
function singularName({ name }: { name: string }): string {
  return name
    .replace(/Entity$/, '')
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ')
    .toLowerCase();
}
