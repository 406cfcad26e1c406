/** These fields and the identifier. If there are none, they stay as they are: the service refuses them. */
export function withIdentifier(
  fields: readonly string[] | undefined,
  identifier: string,
): readonly string[] | undefined {
  if (!fields?.length || fields.includes(identifier)) return fields;
  return [...fields, identifier];
}
