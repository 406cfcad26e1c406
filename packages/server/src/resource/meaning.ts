/** The meaning of a field, and an example value. */
interface FieldMeaning {
  readonly meaning: string;
  readonly example?: string;
}

const MEANING = Symbol('meaning');

/**
 * Sets the meaning of a public column, or of a handler, for the OpenAPI document. The `comment` of the column is not
 * used, because it is part of the database schema.
 *
 * @param example a value; needed for a text, whose type does not suggest one
 */
export function Meaning(meaning: string, example?: string): PropertyDecorator {
  return Reflect.metadata(MEANING, { meaning, example });
}

/** The meaning of a field; `undefined` if it has no `@Meaning`. */
export function meaningOf(entity: object, field: string): FieldMeaning | undefined {
  const { prototype } = entity as { prototype: object };
  return Reflect.getMetadata(MEANING, prototype, field) as FieldMeaning | undefined;
}
