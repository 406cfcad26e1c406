/** A parameter of a path. */
export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description: string;
  readonly schema: ParameterSchema;
  readonly example?: unknown;
}

/** What the tools need of the schema of a parameter. */
export interface ParameterSchema {
  readonly type: string;
  readonly format?: string;
  readonly enum?: readonly string[];
  readonly items?: ParameterSchema;
  readonly maximum?: number;
  readonly examples?: readonly unknown[];
}

/** A schema in `components`. */
export interface Reference {
  readonly $ref: string;
}

/** A `GET` of the service. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly parameters: readonly (Parameter | Reference)[];
  readonly responses: {
    readonly 200: {
      readonly content: { readonly 'application/json': { readonly schema: object } };
    };
  };
}

/** What the tools need of the schema of an object or of a part of it. */
export interface ObjectSchema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly maxLength?: number;
  readonly items?: ObjectSchema | Reference;
  readonly properties?: Readonly<Record<string, ObjectSchema>>;
}

/** What the tools need of the OpenAPI document of a service. */
export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, { readonly get: Operation }>>;
  readonly components: { readonly schemas: Readonly<Record<string, ObjectSchema>> };
}

/** The parameters that a model may send: not the headers, such as the credentials. */
export function parametersOf({ parameters }: Operation): Parameter[] {
  return parameters.filter(
    (each): each is Parameter => 'in' in each && ['path', 'query'].includes(each.in),
  );
}

/** The parameters of every list that are no filters. */
const NO_FILTERS = ['limit', 'offset', 'after', 'fields', 'include', 'sort'];

/** The filters of a list. */
export function filtersOf(list: Operation): Parameter[] {
  return parametersOf(list).filter(({ name }) => !NO_FILTERS.includes(name));
}

/** What the service answers to wrong credentials. */
interface Refusal {
  readonly result: { readonly msg: string };
}

/** Milliseconds. */
const TIMEOUT = 10_000;

/**
 * The OpenAPI document of a service, with what a client may use.
 *
 * @param url where the service is
 * @throws Error if there is none, or if it refuses the credentials
 */
export async function fetchDocument(
  url: string,
  clientID: string,
  accessToken: string,
): Promise<OpenApiDocument> {
  let refusal: string | undefined;
  try {
    const response = await fetch(`${url.replace(/\/+$/, '')}/openapi.json`, {
      headers: { 'X-Client-ID': clientID, Authorization: `Bearer ${accessToken}` },
      signal: AbortSignal.timeout(TIMEOUT),
    });
    const document = (await response.json()) as Partial<OpenApiDocument & Refusal> | null;
    if (document?.paths) return document as OpenApiDocument;
    if ([401, 403].includes(response.status)) refusal = document?.result?.msg;
  } catch (cause) {
    throw new Error(`The catalogue at ${url} cannot be reached`, { cause });
  }
  throw new Error(refusal ?? `There is no catalogue at ${url}`);
}

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
