import {
  type ObjectSchema,
  type OpenApiDocument,
  type Operation,
  parametersOf,
  type Reference,
} from './document.js';

/** A resource with its paths. */
export interface Paths {
  readonly name: string;
  readonly identifier: string;
  readonly list: Operation;
  readonly get: Operation;
  readonly facets: Operation | undefined;
  /** The properties of its objects. */
  readonly properties: Readonly<Record<string, ObjectSchema>>;
}

/** The resources that a document describes, with their paths. */
export function resourcesOf(document: OpenApiDocument): Paths[] {
  const { paths } = document;
  return Object.entries(paths).flatMap(([path, { get }]) => {
    const [, name = '', identifier = ''] = /^\/([^/]+)\/\{([^/]+)\}$/.exec(path) ?? [];
    const list = paths[`/${name}`]?.get;
    // A path of another form than a list is a handler of somebody's own.
    if (!list || !parametersOf(list).some((parameter) => parameter.name === 'limit')) return [];
    const facets = paths[`/facets/${name}`]?.get;
    return [{ name, identifier, list, get, facets, properties: propertiesOf(document, list) }];
  });
}

/** The properties of the objects that a list has; none if its handler describes them in another way. */
function propertiesOf(
  { components }: OpenApiDocument,
  { responses }: Operation,
): Readonly<Record<string, ObjectSchema>> {
  const resolved = (schema: object | undefined): ObjectSchema =>
    schema && '$ref' in schema
      ? (components.schemas[(schema as Reference).$ref.split('/').at(-1) ?? ''] ?? {})
      : (schema ?? {});
  const page = resolved(responses[200].content['application/json'].schema);
  return resolved(page.properties?.response_data?.properties?.objects?.items).properties ?? {};
}
