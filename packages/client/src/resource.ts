import { List } from './list.js';
import { textOf } from './query.js';
import { ObjectStream } from './stream.js';
import type { CallOptions, Transport } from './transport.js';

/** The types of a resource: its objects, and the parameters of its paths. */
export interface ResourceTypes {
  /** The name of the field that identifies an object. */
  readonly identifier: string;
  readonly object: object;
  readonly query: object;
  readonly objectQuery: object;
  readonly facetQuery: object;
}

/** A query of which nothing is known: its parameters are of any name. */
type AnyQuery = Readonly<Record<string, unknown>> & {
  readonly fields?: readonly string[];
  readonly include?: readonly string[];
};

/** The types of a resource of which nothing is known: its fields are of any name, too. */
interface AnyTypes extends ResourceTypes {
  readonly identifier: string;
  readonly object: Readonly<Record<string, unknown>>;
  readonly query: AnyQuery;
  readonly objectQuery: AnyQuery;
  readonly facetQuery: AnyQuery & { readonly facets?: readonly string[] };
}

/** The values that a parameter of a query takes. */
type ParameterValues<Query, Parameter extends string> =
  Query extends Readonly<Partial<Record<Parameter, readonly (infer Value extends string)[]>>>
    ? Value
    : never;

/** A field of an object itself: a copy does not follow the changes of related objects. */
export type OwnField<R extends ResourceTypes> = ParameterValues<R['objectQuery'], 'fields'> &
  keyof R['object'];

/** A query in which each optional parameter may be `undefined`, and is not sent then. */
type Arguments<Query, But = never> = {
  [Name in keyof Query as Exclude<Name, But>]:
    Query[Name] | (object extends Pick<Query, Name> ? undefined : never);
};

/** A query whose `fields` and `include` are of the types given, by which the objects are typed. */
type QueryWith<Query, Fields, Include> = Arguments<Query, 'fields' | 'include'> & {
  readonly fields?: Fields | undefined;
  readonly include?: Include | undefined;
};

/** How many objects have a value. */
export interface FacetCount<Field extends string = string> {
  readonly field: Field;
  /** A value as text; limits such as `0.99..1789.00`, or an interval such as `10..50`, of a number or a time. */
  readonly value: string;
  /** The `name` of the object that the value refers to; null if there is none. */
  readonly label: string | null;
  readonly count: number;
}

/** The values of a list's fields. */
export interface Facets<Field extends string = string> {
  /** The number of all values, whatever `limit` is. */
  readonly count: number;
  readonly objects: FacetCount<Field>[];
}

/** The paths of a resource. */
export class Resource<R extends ResourceTypes = AnyTypes> {
  /**
   * @param name the first segment of the paths
   * @param identifier the field that identifies an object
   */
  constructor(
    private readonly transport: Transport,
    readonly name: string,
    private readonly identifier: string,
  ) {}

  /** The list: `await` gives a page, `for await` all objects, page after page. */
  list<
    const Fields extends readonly ParameterValues<R['query'], 'fields'>[] = [],
    const Include extends readonly ParameterValues<R['query'], 'include'>[] = [],
  >(
    query: QueryWith<R['query'], Fields, Include> = {} as never,
    options?: CallOptions,
  ): List<Selected<R['object'], Fields, Include>> {
    return new List(this.transport, `/${this.name}`, this.identifier, query, options);
  }

  /** The list as it is at one moment, in one response: `for await` gives all objects. */
  stream<
    const Fields extends readonly ParameterValues<R['query'], 'fields'>[] = [],
    const Include extends readonly ParameterValues<R['query'], 'include'>[] = [],
  >(
    query: QueryWith<R['query'], Fields, Include> = {} as never,
    options?: CallOptions,
  ): ObjectStream<Selected<R['object'], Fields, Include>> {
    return new ObjectStream(this.transport, `/${this.name}`, query, options);
  }

  /**
   * One object. If there is none, the error is `-31`.
   *
   * @throws TypeError for an identifier that leads to another path, with the credentials: '', '.' and '..'
   */
  async get<
    const Fields extends readonly ParameterValues<R['objectQuery'], 'fields'>[] = [],
    const Include extends readonly ParameterValues<R['objectQuery'], 'include'>[] = [],
  >(
    identifier: string,
    query: QueryWith<R['objectQuery'], Fields, Include> = {} as never,
    options?: CallOptions,
  ): Promise<Selected<R['object'], Fields, Include>> {
    const text = textOf(this.identifier, identifier);
    if (/^\.{0,2}$/.test(text))
      throw new TypeError(`${this.identifier}: '${text}' cannot be in a path`);
    const path = `/${this.name}/${encodeURIComponent(text)}`;
    const { objects } = await this.transport.page(path, query, options);
    return objects[0] as Selected<R['object'], Fields, Include>;
  }

  /** How many objects of the list have which value, the most frequent first; of intervals, in their order. */
  async facets(
    query: Arguments<R['facetQuery']> = {} as never,
    options?: CallOptions,
  ): Promise<Facets<ParameterValues<R['facetQuery'], 'facets'>>> {
    const { count, objects } = await this.transport.page(`/facets/${this.name}`, query, options);
    type Field = ParameterValues<R['facetQuery'], 'facets'>;
    const counted = objects as (Omit<FacetCount<Field>, 'count'> & { count: string })[];
    return { count, objects: counted.map((each) => ({ ...each, count: Number(each.count) })) };
  }
}

/**
 * An object of a list, by its `fields` and `include`. Of an array whose values are not known at compile
 * time, each value may be missing: with such `fields` all properties are optional, those of the related
 * objects that they name included; with such an `include` the related objects are.
 */
export type Selected<
  T,
  Fields extends readonly string[],
  Include extends readonly string[],
> = Fields extends readonly []
  ? Include extends readonly []
    ? T
    : Plain<T & RelatedIncluded<T, Include>>
  : number extends Fields['length']
    ? Plain<AnySelected<T, Fields[number]>>
    : Plain<
        Pick<T, Fields[number] & keyof T> &
          RelatedSelected<T, Fields[number]> &
          RelatedIncluded<T, Include, keyof RelatedSelected<T, Fields[number]>>
      >;

/** A type as editors show it: as a plain object, and not how it was computed. */
// eslint-disable-next-line @typescript-eslint/no-redundant-type-constituents -- else they show this name
type Plain<T> = { [Name in keyof T]: T[Name] } & unknown;

/** The related objects that a list includes, but those that are typed by `fields`. */
type RelatedIncluded<
  T,
  Include extends readonly string[],
  Typed = never,
> = number extends Include['length']
  ? Partial<Pick<T, Exclude<WithCount<T, Include[number]>, Typed>>>
  : Required<Pick<T, Exclude<WithCount<T, Include[number]>, Typed>>>;

/** The names of related objects, with that of the number of several ones. */
type WithCount<T, Name> = Name extends keyof T
  ? | Name
    | (NonNullable<T[Name]> extends readonly unknown[] ? keyof T & `${Name & string}Count` : never)
  : never;

/** The related objects of which `fields` names fields, such as `author.name`, and the numbers of several ones. */
type RelatedSelected<T, Names> = {
  readonly [Name in Names as RelatedOf<Name>]: FieldsOfRelated<
    NonNullable<T[RelatedOf<Name> & keyof T]>,
    RelatedOf<Name>,
    Names
  >;
} & Required<Pick<T, Exclude<WithCount<T, RelatedOf<Names>>, RelatedOf<Names>>>>;

type RelatedOf<Name> = Name extends `${infer Related}.${string}` ? Related : never;

type FieldsOfRelated<T, Related extends string, Names> = T extends readonly (infer Each)[]
  ? readonly PickNamed<Each, Related, Names>[]
  : PickNamed<T, Related, Names> | null;

type PickNamed<T, Related extends string, Names> = Plain<
  Pick<T, (Names extends `${Related}.${infer Field}` ? Field : never) & keyof T>
>;

/** An object with any of these fields. */
type AnySelected<T, Names> = {
  readonly [Name in keyof T]?: [Extract<Names, `${Name & string}.${string}`>] extends [never]
    ? T[Name]
    : NonNullable<T[Name]> extends readonly (infer Each)[]
      ? readonly Partial<Each>[]
      : Partial<NonNullable<T[Name]>> | null;
};
