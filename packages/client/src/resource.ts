import { List, type Page } from './list.js';
import { mirror, type MirrorStore } from './mirror.js';
import type { Shown } from './shown.js';
import { WholeList } from './stream.js';
import type { CallOptions, Transport } from './transport.js';

/** The types of a resource: its objects and deletions, and the parameters of its paths. */
export interface ResourceTypes {
  readonly object: object;
  readonly query: object;
  readonly objectQuery: object;
  readonly deletion: object;
  readonly deletionQuery: object;
  readonly facetQuery: object;
}

/** The names that the parameter of a query takes. */
type Names<Query, Parameter extends string> =
  Query extends Readonly<Partial<Record<Parameter, readonly (infer Name extends string)[]>>>
    ? Name
    : never;

/** A query whose `fields` and `include` are of the types given, by which the objects are typed. */
type Choosing<Query, Fields, Include = never> = Omit<Query, 'fields' | 'include'> & {
  readonly fields?: Fields;
} & ([Include] extends [never] ? unknown : { readonly include?: Include });

/** How many objects have a value. */
export interface FacetCount<Field extends string = string> {
  readonly field: Field;
  readonly value: string;
  readonly count: number;
}

/** The paths of a resource. */
export class Resource<R extends ResourceTypes> {
  constructor(
    private readonly transport: Transport,
    private readonly name: string,
    private readonly identifier: string,
  ) {}

  /** The list: `await` gives a page, `for await` all objects, page after page. */
  list<
    const Fields extends readonly Names<R['query'], 'fields'>[] = [],
    const Include extends readonly Names<R['query'], 'include'>[] = [],
  >(
    query: Choosing<R['query'], Fields, Include> = {} as never,
    options?: CallOptions,
  ): List<Shown<R['object'], Fields, Include>> {
    return new List(this.transport, `/${this.name}`, this.identifier, query, options);
  }

  /** The list as it is at one moment, sent as NDJSON: `for await` gives all objects. */
  stream<
    const Fields extends readonly Names<R['query'], 'fields'>[] = [],
    const Include extends readonly Names<R['query'], 'include'>[] = [],
  >(
    query: Choosing<R['query'], Fields, Include> = {} as never,
    options?: CallOptions,
  ): WholeList<Shown<R['object'], Fields, Include>> {
    return new WholeList(this.transport, `/${this.name}`, query, options);
  }

  /** One object. If there is none, the error is `-31`. */
  async get<const Fields extends readonly Names<R['objectQuery'], 'fields'>[] = []>(
    identifier: string,
    query: Choosing<R['objectQuery'], Fields> = {} as never,
    options?: CallOptions,
  ): Promise<Shown<R['object'], Fields, []>> {
    const path = `/${this.name}/${encodeURIComponent(identifier)}`;
    const { objects } = await this.transport.page(path, query, options);
    return objects[0] as Shown<R['object'], Fields, []>;
  }

  /** How many objects of the list have which value, most frequent first. */
  async facets(
    query: R['facetQuery'] = {},
    options?: CallOptions,
  ): Promise<Pick<Page<FacetCount<Names<R['facetQuery'], 'facets'>>>, 'count' | 'objects'>> {
    const path = `/facets/${this.name}`;
    const { count, objects } = await this.transport.page(path, query, options);
    type Field = Names<R['facetQuery'], 'facets'>;
    const counted = objects as (Omit<FacetCount<Field>, 'count'> & { count: string })[];
    return { count, objects: counted.map((each) => ({ ...each, count: Number(each.count) })) };
  }

  /** What was deleted since a time: `await` gives a page, `for await` all. */
  deletions<const Fields extends readonly Names<R['deletionQuery'], 'fields'>[] = []>(
    query: Choosing<R['deletionQuery'], Fields>,
    options?: CallOptions,
  ): List<Shown<R['deletion'], Fields, []>> {
    const path = `/deletions/${this.name}`;
    return new List(this.transport, path, this.identifier, query, options);
  }

  /**
   * Brings a copy of the resource up to date. Call it again and again, each time with the cursor that it
   * returned. If it throws, call it again with the cursor of before.
   *
   * @returns the cursor, a text; `undefined` in the first seconds of a new database: begin again
   */
  mirror<const Fields extends readonly Names<R['objectQuery'], 'fields'>[] = []>(
    {
      store,
      cursor,
      fields,
    }: {
      readonly store: MirrorStore<Shown<R['object'], Fields, []>>;
      /** What the last call returned. Without it, a new copy begins. */
      readonly cursor?: string | undefined;
      /** The fields of the copy, with the identifier. Default: all. */
      readonly fields?: Fields;
    },
    options?: CallOptions,
  ): Promise<string | undefined> {
    const { transport, name, identifier } = this;
    return mirror({ transport, name, identifier, store, cursor, fields }, options);
  }
}
