import type { Type } from '@nestjs/common';
import { type ExposeMetadata, TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage as declared } from 'class-transformer/cjs/storage.js';
import type { EntityMetadata } from 'typeorm';
import { identifierOf } from './resource.js';

/** The decorators of `@nestjs/swagger` whose metadata have another name. */
const NAMES: Readonly<Record<string, string>> = {
  apiUseTags: 'ApiTags',
  apiHeaders: 'ApiHeader',
  apiParameters: 'ApiParam, @ApiQuery, @ApiBody or @ApiHeader',
  apiModelPropertiesArray: 'ApiProperty',
};

/**
 * Decorators of `@nestjs/swagger`, as lines: the document is made of other declarations.
 *
 * @param name of what has them
 * @param targets the objects with their metadata: a class, its prototype, or a method
 */
export function* swaggerProblems(name: string, ...targets: object[]): Generator<string> {
  const keys = targets.flatMap((target) => Reflect.getMetadataKeys(target) as unknown[]);
  for (const key of new Set(keys)) {
    const [, found] = typeof key === 'string' ? (/^swagger\/(\w+)$/.exec(key) ?? []) : [];
    if (found === undefined) continue;
    const decorator = NAMES[found] ?? `A${found.slice(1)}`;
    yield `${name} has @${decorator}, which the document does not read: say what it is with @Meaning, and what a handler returns with @Returns`;
  }
}

/** The decorators of class-transformer that would hide, rename or change a property, by name. */
export function transformingDecorators(target: Type, property: string): string[] {
  const excluded = declared.findExcludeMetadata(target, property) as object | undefined;
  const isExcluded = excluded !== undefined || declared.getStrategy(target) === 'excludeAll';
  const exposed = declared.findExposeMetadata(target, property) as ExposeMetadata | undefined;
  const transforms = Object.values(TransformationType)
    .filter((type) => typeof type === 'number')
    .flatMap((type) => declared.findTransformMetadatas(target, property, type));
  return [
    ...(isExcluded ? ['Exclude'] : []),
    ...(Object.keys(exposed?.options ?? {}).length > 0 ? ['Expose'] : []),
    ...(transforms.length > 0 ? ['Transform'] : []),
  ];
}

/** What `@Type` of class-transformer gives a property; `undefined` for a property without it. */
export function decoratedType(target: Type, property: string): Type | undefined {
  const metadata = declared.findTypeMetadata(target, property) as TypeMetadata | undefined;
  return metadata?.typeFunction() as Type | undefined;
}

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
