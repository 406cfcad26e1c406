/** Fields with the identifier among them. If none are given, objects have all fields. */
export function withIdentifier(
  fields: readonly string[] | undefined,
  identifier: string,
): readonly string[] | undefined {
  if (!fields?.length || fields.includes(identifier)) return fields;
  return [...fields, identifier];
}
