/** What a field means, and a value that it may have. */
export interface FieldMeaning {
  readonly meaning: string;
  readonly example?: string;
}

const MEANING = Symbol('meaning');

/**
 * Says what a public column means, for the OpenAPI document. Not as the column's `comment`, which
 * would be part of the database's schema.
 *
 * @param example of a text, which its type does not tell
 */
export function Meaning(meaning: string, example?: string): PropertyDecorator {
  return Reflect.metadata(MEANING, { meaning, example });
}

/** What was said of a field; `undefined` if nothing was. */
export function meaningOf(entity: object, field: string): FieldMeaning | undefined {
  const { prototype } = entity as { prototype: object };
  return Reflect.getMetadata(MEANING, prototype, field) as FieldMeaning | undefined;
}
