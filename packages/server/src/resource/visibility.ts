import { type EntityMetadata, getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { type Children, references } from './relations.js';
import { type ClientRecord, declaredOf, DELETIONS, type Scope } from './declaration.js';

/** A column of an entity, by its property. */
export type EntityColumn = readonly [entity: object, property: string];

/** What a client may read; `rightsOf` has those of every client. */
export class Rights {
  /** Whether some resources or fields are not for the client. */
  readonly isRestricted: boolean;

  constructor(
    /** The names of the resources that it may read; null: all. */
    private readonly resources: readonly string[] | null,
    /** The columns that it does not see, such as `products.price`. */
    private readonly hidden: readonly string[],
    /** Whether it needs no token, as in a page for browsers. */
    readonly isPublic: boolean,
  ) {
    this.isRestricted = resources !== null || hidden.length > 0;
  }

  /** Whether it may read anything: also what is not known, as what a handler reads itself. */
  get isEverything(): boolean {
    return !this.isRestricted && !this.isPublic;
  }

  mayRead(resource: string): boolean {
    return this.resources?.includes(resource) ?? true;
  }

  /** Whether it sees every column of a resource. */
  seesAll(resource: string): boolean {
    return this.mayRead(resource) && !this.hidden.some((name) => name.startsWith(`${resource}.`));
  }

  /**
   * Whether it sees a column, and all columns that this one is derived from. What is not known fails closed: a computed
   * field may read any table, a trigger may set a column from any other, and a column may be derived from itself.
   *
   * @param derived the columns that are derived from it, one from the other
   */
  sees(entity: object, property: string, derived: readonly string[] = []): boolean {
    if (!this.isRestricted) return true;
    const target = entity as ObjectType<unknown>;
    const declared = declaredOf({ target });
    if (!declared) return DELETIONS.has(entity);
    const { name } = declared;
    if (!this.mayRead(name) || this.hidden.includes(`${name}.${property}`)) return false;
    if (derived.includes(property)) return false;
    const sources = declared.derived[property];
    if (sources) {
      return sources.every((source) => this.sees(entity, source, [...derived, property]));
    }
    const columns = getMetadataArgsStorage().filterColumns(target);
    const { mode, options } = columns.find(({ propertyName }) => propertyName === property) ?? {};
    if (mode === 'virtual-property') return false;
    const { select = true, insert = true, update = true, generatedType } = options ?? {};
    return (select && insert && update && !generatedType) || this.seesAll(name);
  }

  /** Those of an entity's columns that it sees. */
  seen(entity: unknown, names: readonly string[]): readonly string[] {
    return this.isRestricted ? names.filter((name) => this.sees(entity as object, name)) : names;
  }

  /**
   * Whether it sees which objects of another resource belong to an object: the one that a column refers to, or its
   * children.
   */
  seesRelated(entity: ObjectType<unknown>, related: string | Children): boolean {
    if (!this.isRestricted) return true;
    if (typeof related === 'string') {
      const other = references(entity).get(related);
      return this.sees(entity, related) && this.mayReadOf(other);
    }
    const { entity: child, sort } = related;
    const referring = [...references(child)].filter(([, target]) => target === entity);
    const columns = referring.map(([column]) => column);
    if (sort) columns.push(sort.replace('-', ''));
    // Which children are shown, and in which order, tells of the column that they are sorted by.
    return this.mayReadOf(child) && columns.every((column) => this.sees(child, column));
  }

  private mayReadOf(target: ObjectType<unknown> | undefined): boolean {
    const name = target && declaredOf({ target })?.name;
    return name !== undefined && this.mayRead(name);
  }
}

/** The rights of a client that may read everything. */
const EVERYTHING = new Rights(null, [], false);

/** A client with its rights: read by `ClientCache`, or made by `catalogue explain` and `catalogue verify`. */
export interface ScopeClient extends ClientRecord {
  /** Absent: it may read everything. */
  readonly rights?: Rights | undefined;
}

/** The rights of a client. Nothing is hidden from the service itself, which asks without a client. */
export function rightsOf(client: ScopeClient | undefined): Rights {
  return client?.rights ?? EVERYTHING;
}

/** The scope of an entity; of deletions, that of their resource. `undefined` if every client sees every object. */
export function scopeOf({ target }: Pick<EntityMetadata, 'target'>): Scope | undefined {
  return declaredOf({ target: DELETIONS.get(target as object) ?? target })?.scope;
}

/** What a client sees of a resource with a scope is asked without a client. */
export class UnknownClientError extends TypeError {
  constructor(resource: string) {
    super(`What is seen of ${resource} depends on the client`);
  }
}
