import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { type Related, relatedOf } from '../../resource/relations.js';
import { fieldsOf, identifierOf, isResource } from '../../resource/resource.js';

/** The object that a column refers to; `undefined` if it refers to none of a resource. */
export function relatedBy(metadata: EntityMetadata, column: string): Related | undefined {
  return relatedOf(metadata).find(
    (each) => !each.children && each.column.propertyName === column && isResource(each.metadata),
  );
}

/** The column that says what an object is called: `name`; `undefined` if there is none in the table. */
export function labelColumnOf(metadata: EntityMetadata): ColumnMetadata | undefined {
  return fieldsOf(metadata).find(
    ({ propertyName, isVirtualProperty }) => propertyName === 'name' && !isVirtualProperty,
  );
}

/** The fields of related objects that counts of columns show or depend on, such as `brand.name`. */
export function labelFields(metadata: EntityMetadata, columns: readonly string[]): string[] {
  return columns.flatMap((column) => {
    const related = relatedBy(metadata, column);
    if (!related) return [];
    const { propertyName } = labelColumnOf(related.metadata) ?? identifierOf(related.metadata);
    return [`${related.name}.${propertyName}`];
  });
}
