import type { EntityMetadata, ObjectType } from 'typeorm';
import { references } from './references.js';
import { resourceName } from './resource.js';

/** The objects of another resource that refer to an object, such as the variants of a product. */
export interface Children {
  readonly entity: ObjectType<unknown>;
  /** Most objects that are shown. */
  readonly limit: number;
  /** The field by which they are sorted, with `-` before it for descending. Default: the identifier. */
  readonly sort: string | undefined;
}

/** Most children that `include` may show of one object. A page of 1000 objects then has 100,000 of them. */
const MAXIMUM_CHILDREN = 100;

/** The children that lists of an entity may include, by name. */
const CHILDREN = new WeakMap<EntityMetadata['target'] & object, Map<string, Children>>();

/**
 * The objects of another resource that refer to each object with an `@ForeignKey`, for `include` of `@QueryOf`. They are
 * called as their resource is, such as `variants`, and the number of all of them is `variantsCount`.
 *
 * @throws RangeError for a `limit` that is not between 1 and 100
 */
export function children<Entity>(
  entity: ObjectType<Entity>,
  {
    limit = 20,
    sort,
  }: {
    /** Most objects that are shown. Default: 20. */
    readonly limit?: number;
    /** The field by which they are sorted, with `-` before it for descending. Default: the identifier. */
    readonly sort?: (keyof Entity & string) | `-${keyof Entity & string}`;
  } = {},
): Children {
  if (!Number.isInteger(limit) || limit < 1 || limit > MAXIMUM_CHILDREN) {
    throw new RangeError(
      `children(${entity.name}) needs a limit of 1 to ${MAXIMUM_CHILDREN}, not ${limit}`,
    );
  }
  return { entity, limit, sort };
}

/**
 * Lets lists of an entity include children. Returns their name.
 *
 * @throws TypeError if not exactly one column of them refers to the entity, or if another query class declares them in
 * another way
 */
export function declareChildren(entity: ObjectType<unknown>, included: Children): string {
  const { entity: child, limit, sort } = included;
  const columns = [...references(child)].filter(([, target]) => target === entity);
  if (columns.length !== 1) {
    throw new TypeError(
      `${child.name} needs exactly one @ForeignKey to ${entity.name} to be its children, and has ${columns.length}`,
    );
  }
  const name = resourceName(child);
  const known = CHILDREN.get(entity) ?? new Map<string, Children>();
  const before = known.get(name);
  if (before && (before.limit !== limit || before.sort !== sort)) {
    throw new TypeError(`The children ${name} of ${entity.name} are declared in two ways`);
  }
  CHILDREN.set(entity, known.set(name, included));
  return name;
}

/** The children that lists of an entity may include, by name. */
export function declaredChildren({
  target,
}: Pick<EntityMetadata, 'target'>): ReadonlyMap<string, Children> {
  const known = typeof target === 'function' ? CHILDREN.get(target) : undefined;
  return known ?? new Map<string, Children>();
}
