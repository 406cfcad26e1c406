import type { EntityMetadata } from 'typeorm';
import { identifierOf } from './resource.js';
import { transformingDecorators } from './transforming-decorators.js';

/**
 * What TypeORM or class-transformer would do for an entity, and lists, imports and exports do not: they read and
 * write the columns in SQL. As lines.
 */
export function ignoredDeclarations(metadata: EntityMetadata): string[] {
  const {
    name: entity,
    columns,
    embeddeds,
    foreignKeys,
    listeners,
    ownRelations,
    target,
  } = metadata;
  return [
    ...[...ownRelations, ...embeddeds].map(
      ({ propertyName }) =>
        `${entity}.${propertyName} is a relation or an embedded object, which no list reads: declare each column by itself, and one that refers to another resource with @ForeignKey`,
    ),
    ...listeners.map(
      ({ propertyName }) =>
        `${entity}.${propertyName} is a listener of TypeORM, which no import and no list calls: use a trigger, or a generated column`,
    ),
    ...(metadata.inheritancePattern !== undefined || metadata.treeType !== undefined
      ? [
          `${entity} has @TableInheritance or @Tree, which no list follows: list a view, or refer with @ForeignKey`,
        ]
      : []),
    ...columns
      .filter((column) => !column.relationMetadata && !column.embeddedMetadata)
      .flatMap((column) => {
        const name = `${entity}.${column.propertyName}`;
        return [
          ...(column.transformer
            ? [`${name} has a transformer, which no list applies: store what is shown`]
            : []),
          ...(column.isVersion
            ? [`${name} is a @VersionColumn, which no import increases: the ETag is the version`]
            : []),
          ...(column.databaseName !== column.propertyName && !column.isVirtual
            ? [
                `${name} is the column ${column.databaseName}: give both one name, in a view if the table is that of others`,
              ]
            : []),
        ];
      }),
    ...columns.flatMap(({ propertyName }) =>
      (typeof target === 'function' ? transformingDecorators(target, propertyName) : []).map(
        (decorator) =>
          `${entity}.${propertyName} has @${decorator}, which no list applies: hide a column with select: false, and compute another value with @VirtualColumn`,
      ),
    ),
    ...foreignKeys.flatMap(({ columns: [column], referencedColumns, referencedEntityMetadata }) =>
      column && referencedColumns.some((each) => each !== identifierOf(referencedEntityMetadata))
        ? [
            `${entity}.${column.propertyName} refers with @ForeignKey to another column than the identifier of ${referencedEntityMetadata.name}, by which objects are looked up`,
          ]
        : [],
    ),
  ];
}
