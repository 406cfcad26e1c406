import type { Type } from '@nestjs/common';
import { type EntityMetadata, getMetadataArgsStorage } from 'typeorm';
import { isKeyOfNest, transformationsOf } from '../private-api/decorators.js';
import { identifierOf } from './resource.js';

// What is read is known. Whatever else a decorator has declared is named as its package does.

/** Whose entries TypeORM has made columns, keys, checks and indexes of. */
const READ_OF_TYPEORM: ReadonlySet<string> = new Set([
  ...['tables', 'columns', 'generations', 'foreignKeys'],
  ...['indices', 'uniques', 'checks', 'exclusions'],
]);

/**
 * The metadata of packages that nothing here reads, as lines. A package has its name before its keys, such as
 * `swagger/apiUseTags`. What a project reads itself, as by a guard, has none.
 *
 * @param name of what has them
 * @param targets the objects with their metadata: a class, its prototype, or a method
 */
export function* unreadMetadata(name: string, ...targets: object[]): Generator<string> {
  const keys = targets.flatMap((target) => Reflect.getMetadataKeys(target) as unknown[]);
  for (const key of new Set(keys)) {
    if (typeof key !== 'string' || !/^(?!design:)\w+[/:]/.test(key)) continue;
    if (isKeyOfNest(key)) continue;
    yield `${name} has metadata of another package, ${key}: nothing here reads it, so remove its decorator`;
  }
}

/**
 * What class-transformer would do with the properties of a class, such as `Product.name has @Exclude`.
 *
 * @param isTyped whether the types that `@Type` gives properties are read
 */
export function* transformingDecorators(target: Type, isTyped: boolean): Generator<string> {
  for (const { decorator, property } of transformationsOf(target)) {
    if (isTyped && decorator === 'Type') continue;
    yield `${target.name}${property === undefined ? '' : `.${property}`} has @${decorator}`;
  }
}

/**
 * What TypeORM or class-transformer would do for an entity, and lists, imports and exports do not: they read and
 * write the columns in SQL. As lines.
 */
export function* unreadDeclarations(metadata: EntityMetadata): Generator<string> {
  const { name: entity, columns, inheritanceTree } = metadata;
  const target = metadata.target as Type<object>;
  for (const [kind, entries] of Object.entries(getMetadataArgsStorage()) as [
    string,
    Declared[],
  ][]) {
    if (READ_OF_TYPEORM.has(kind)) continue;
    for (const { target: declaring, propertyName } of entries)
      if (inheritanceTree.includes(declaring))
        yield `${entity}${propertyName === undefined ? '' : `.${propertyName}`} is one of the ${kind} of TypeORM, which nothing here reads: declare each column by itself, refer to another resource with @ForeignKey, and derive by a trigger or a generated column`;
  }
  for (const column of columns) {
    if (column.relationMetadata || column.embeddedMetadata) continue;
    const name = `${entity}.${column.propertyName}`;
    if (column.transformer)
      yield `${name} has a transformer, which no list applies: store what is shown`;
    if (column.isVersion)
      yield `${name} is a @VersionColumn, which no import increases: the ETag is the version`;
  }
  yield* unreadMetadata(entity, target, target.prototype as object);
  for (const what of transformingDecorators(target, true))
    yield `${what}, which no list applies: hide a column with select: false, and compute another value with @VirtualColumn`;
  for (const {
    columns: own,
    referencedColumns,
    referencedEntityMetadata: other,
  } of metadata.foreignKeys)
    if (own[0] && referencedColumns.some((each) => each !== identifierOf(other)))
      yield `${entity}.${own[0].propertyName} refers with @ForeignKey to another column than the identifier of ${other.name}, by which objects are looked up`;
}

/** An entry of what TypeORM collects from decorators. */
interface Declared {
  readonly target: Type;
  readonly propertyName?: string;
}
