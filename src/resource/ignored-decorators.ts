import type { Type } from '@nestjs/common';
import { type ExposeMetadata, TransformationType, type TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage as declared } from 'class-transformer/cjs/storage.js';

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
