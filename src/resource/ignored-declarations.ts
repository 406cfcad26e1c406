import { instanceToPlain, plainToInstance } from 'class-transformer';
import type { EntityMetadata } from 'typeorm';
import { identifierOf } from './resource.js';

/**
 * What TypeORM or class-transformer would do for an entity, and lists, imports and exports do not: they read and
 * write the columns in SQL. As lines.
 */
export function ignoredDeclarations(metadata: EntityMetadata): string[] {
  const { name: entity, columns, embeddeds, foreignKeys, listeners, ownRelations } = metadata;
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
    ...transformedProperties(metadata).map(
      (property) =>
        `${entity}.${property} has a decorator of class-transformer, which no list applies: hide a column with select: false, and compute another value with @VirtualColumn`,
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

/**
 * The columns that `@Exclude`, `@Expose` or `@Transform` would hide, rename or change. class-transformer exports no
 * way to read its decorators, so it is given objects with values of several types.
 */
function transformedProperties({ target, columns }: EntityMetadata): string[] {
  if (typeof target !== 'function') return [];
  const entity = target as new () => object;
  return columns
    .map(({ propertyName }) => propertyName)
    .filter((name) => {
      return [`a value of ${name}`, 12.345, true, null].some((value) => {
        const object = Object.assign(Object.create(entity.prototype as object) as object, {
          [name]: value,
        });
        try {
          const converted = [instanceToPlain(object), plainToInstance(entity, { [name]: value })];
          return converted.some((each) => (each as Record<string, unknown>)[name] !== value);
        } catch {
          // A function of @Transform that does not take this value.
          return true;
        }
      });
    });
}
