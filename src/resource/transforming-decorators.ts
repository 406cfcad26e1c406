import { type ExposeMetadata, TransformationType } from 'class-transformer';
import { defaultMetadataStorage as declared } from 'class-transformer/cjs/storage.js';

/** The decorators of class-transformer that would hide, rename or change a property, by name. */
export function transformingDecorators(
  { prototype }: { readonly prototype: object },
  property: string,
): string[] {
  const target = prototype.constructor;
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

/** Whether a property has `@Type`. */
export function hasTypeDecorator(
  { prototype }: { readonly prototype: object },
  property: string,
): boolean {
  return (
    (declared.findTypeMetadata(prototype.constructor, property) as object | undefined) !== undefined
  );
}
