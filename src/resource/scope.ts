import type { EntityMetadata } from 'typeorm';
import type { Rights } from './rights.js';

/** A client as a scope gets it: read by `ClientReader`, or made by `catalogue explain` and `catalogue verify`. */
export interface ScopeClient {
  readonly clientID: string;
  /** Absent: it may read everything. */
  readonly rights?: Rights | undefined;
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
  readonly where: (client: ScopeClient) => Where<Column> | readonly Where<Column>[];
}

const SCOPE = Symbol('scope');

/** Sets the scope of an entity. */
export function setScope(target: object, scope: Scope): void {
  Reflect.defineMetadata(SCOPE, scope, target);
}

/** The scope of an entity; `undefined` if every client sees every object. */
export function scopeOf({ target }: Pick<EntityMetadata, 'target'>): Scope | undefined {
  return typeof target === 'function'
    ? (Reflect.getMetadata(SCOPE, target) as Scope | undefined)
    : undefined;
}

/** What a client sees of a resource with a scope is asked without a client. */
export class UnknownClientError extends TypeError {
  constructor(resource: string) {
    super(`What is seen of ${resource} depends on the client`);
  }
}
