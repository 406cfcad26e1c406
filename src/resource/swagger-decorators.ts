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
