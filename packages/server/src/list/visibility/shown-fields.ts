import type { EntityMetadata, ObjectType } from 'typeorm';
import { relatedOf } from '../../resource/relations.js';
import { fieldsOf } from '../../resource/resource.js';
import type { Rights } from '../../resource/visibility.js';
import { fieldsOfRelated } from '../../resource/selection.js';
import { ObjectQueryDto } from '../query/list-query.dto.js';

/**
 * The fields that each object of a list, or a single one, shows, by `fields` and `include`: those of a related object as
 * `brand.name`, which is what `selection` takes. `undefined` for all of its own.
 *
 * @param rights what the client sees of them
 */
export function shownFields(
  metadata: EntityMetadata,
  { fields, include = [] }: Pick<ObjectQueryDto, 'fields' | 'include'>,
  rights: Rights,
): readonly string[] | undefined {
  const related = relatedOf(metadata).flatMap(({ name, column, metadata: other, children }) => {
    const named = fieldsOfRelated(name, fields ?? []);
    if (named.length === 0 && !include.includes(name)) return [];
    const by = children ?? column.propertyName;
    if (!rights.seesRelated(metadata.target as ObjectType<unknown>, by)) return [];
    const shown = named.length > 0 ? named : namesOf(other);
    return rights.seen(other.target, shown).map((field) => `${name}.${field}`);
  });
  if (related.length === 0 && !rights.isRestricted) return fields;
  const own = fields ? fields.filter((name) => !name.includes('.')) : namesOf(metadata);
  return [...rights.seen(metadata.target, own), ...related];
}

/**
 * The fields and related objects that `fields` and `include` name, in the order of the resource. `undefined` without
 * `fields`, and for a query class that does not extend `ObjectQueryDto`, whose `fields` may mean something else.
 */
export function namedFields(query: unknown): readonly string[] | undefined {
  if (!(query instanceof ObjectQueryDto)) return undefined;
  const { fields, include = [] } = query;
  return fields && [...fields, ...include];
}

/** The names of all fields of an entity. */
export function namesOf(metadata: EntityMetadata): string[] {
  return fieldsOf(metadata).map(({ propertyName }) => propertyName);
}
