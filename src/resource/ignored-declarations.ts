import type { Type } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { swaggerProblems, transformingDecorators } from './ignored-decorators.js';
import { identifierOf } from './resource.js';

/**
 * What TypeORM or class-transformer would do for an entity, and lists, imports and exports do not: they read and
 * write the columns in SQL. As lines.
 */
export function* ignoredDeclarations(metadata: EntityMetadata): Generator<string> {
  const { name: entity, columns } = metadata;
  const target = metadata.target as Type<object>;
  for (const { propertyName } of [...metadata.ownRelations, ...metadata.embeddeds])
    yield `${entity}.${propertyName} is a relation or an embedded object, which no list reads: declare each column by itself, and one that refers to another resource with @ForeignKey`;
  for (const { propertyName } of metadata.listeners)
    yield `${entity}.${propertyName} is a listener of TypeORM, which no import and no list calls: use a trigger, or a generated column`;
  if (metadata.inheritancePattern !== undefined || metadata.treeType !== undefined)
    yield `${entity} has @TableInheritance or @Tree, which no list follows: list a view, or refer with @ForeignKey`;
  for (const column of columns) {
    if (column.relationMetadata || column.embeddedMetadata) continue;
    const name = `${entity}.${column.propertyName}`;
    if (column.transformer)
      yield `${name} has a transformer, which no list applies: store what is shown`;
    if (column.isVersion)
      yield `${name} is a @VersionColumn, which no import increases: the ETag is the version`;
  }
  yield* swaggerProblems(entity, target, target.prototype as object);
  for (const { propertyName } of columns)
    for (const decorator of transformingDecorators(target, propertyName))
      yield `${entity}.${propertyName} has @${decorator}, which no list applies: hide a column with select: false, and compute another value with @VirtualColumn`;
  for (const {
    columns: own,
    referencedColumns,
    referencedEntityMetadata: other,
  } of metadata.foreignKeys)
    if (own[0] && referencedColumns.some((each) => each !== identifierOf(other)))
      yield `${entity}.${own[0].propertyName} refers with @ForeignKey to another column than the identifier of ${other.name}, by which objects are looked up`;
}
