import type { DataSource, EntityMetadata } from 'typeorm';
import {
  type DeclaredParameter,
  type ParameterSchema,
  type ParameterSettings,
  parametersOf,
  schemaOf,
} from '../http/parameters/declared-parameters.js';
import type { Endpoint } from '../http/endpoints.js';
import { isCredential } from '../http/parameters/credentials-query.dto.js';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { IDENTIFIER_LENGTH } from '../resource/formats.js';
import { FacetsQueryDto } from '../list/facets/facets-query.dto.js';
import { ListQueryDto } from '../list/list-query.dto.js';
import { meaningOf } from '../resource/meaning.js';
import { entityOf } from '../list/query-of.js';
import {
  COMMON,
  COUNTED,
  headersNamed,
  type ErrorResponses,
  WITH_CREDENTIALS,
} from './responses.js';
import { json, type Json, objectOf } from './schema.js';

/** The alternatives for credentials: in headers or in the query, not in both. */
export const CREDENTIALS = [
  { 'X-Client-ID': [], Authorization: [] },
  { clientID: [], access_token: [] },
];

/** An endpoint with its entity, parameters and path template. */
export interface DescribedEndpoint extends Endpoint {
  readonly metadata: EntityMetadata | undefined;
  readonly kind: 'list' | 'facets' | 'object';
  /** The query parameters without the credentials, which are security schemes. */
  readonly parameters: readonly DescribedParameter[];
  /** The maximum number of objects in a page. */
  readonly maximumObjects: number;
  /** The names of the parameters in its path. */
  readonly pathParameters: readonly string[];
  /** The path template of OpenAPI, such as `/products/{productID}`. */
  readonly template: string;
}

/** A parameter with its schema under the settings of the service. */
interface DescribedParameter extends DeclaredParameter {
  readonly name: string;
  readonly schema: ParameterSchema;
}

export function described(
  endpoint: Endpoint,
  dataSource: DataSource,
  settings: ParameterSettings,
): DescribedEndpoint {
  const entity = entityOf(endpoint.query);
  const kind = kindOf(endpoint);
  const parameters = [...parametersOf(endpoint.query)]
    .filter(([name]) => !isCredential(name))
    .map(([name, parameter]) => ({ ...parameter, name, schema: schemaOf(parameter, settings) }));
  const fields = parameters.find(({ name }) => name === 'facets')?.schema.items?.enum ?? [];
  const maximumObjects = {
    list: settings.maxLimit,
    facets: settings.maxLimit * fields.length,
    object: 1,
  };
  return {
    ...endpoint,
    metadata: entity && dataSource.getMetadata(entity),
    kind,
    parameters,
    maximumObjects: maximumObjects[kind],
    pathParameters: [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name),
    template: endpoint.path.replace(/:(\w+)/g, '{$1}'),
  };
}

function kindOf({ query: { prototype } }: Endpoint): DescribedEndpoint['kind'] {
  if (prototype instanceof ListQueryDto) return 'list';
  return prototype instanceof FacetsQueryDto ? 'facets' : 'object';
}

/** The name of the objects of a path, such as `products` or `deletions of products`. */
export function collectionOf({ path }: Endpoint): string {
  const parts = path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
  return parts.join(' of ');
}

/** The path item of an endpoint: its parameters, and an operation for each method. */
export function pathItem(endpoint: DescribedEndpoint, errorResponses: ErrorResponses): Json {
  const { metadata, kind, method, controller } = endpoint;
  const resource = collectionOf(endpoint);
  const isConditional = kind !== 'object';
  const name =
    isConditional || !metadata ? controller.name.replace(/Controller$/, '') : metadata.name;
  const operationId = `${method}${name}`;
  const what = {
    list: `a page of ${resource}`,
    facets: `the ${resource}`,
    object: `one of ${resource}`,
  }[kind];
  const conditional = isTagged(endpoint) ? { parameters: [IF_NONE_MATCH] } : {};
  const responses = {
    200: success(endpoint),
    ...(isTagged(endpoint) && { 304: unchanged(endpoint) }),
    ...errorResponses.of(errorsOf(endpoint)),
  };
  const common = { tags: [resource], security: CREDENTIALS };
  return {
    parameters: [
      ...endpoint.pathParameters.map((parameter) => inPath(endpoint, parameter)),
      ...endpoint.parameters.map((parameter) => inQuery(endpoint, parameter)),
      REQUEST_ID,
    ],
    get: {
      ...common,
      ...conditional,
      operationId,
      summary: `Get ${what}`,
      description: `${DESCRIPTIONS[kind]} A parameter that is not listed here is refused with \`-23\`.`,
      responses,
    },
    head: {
      ...common,
      ...conditional,
      operationId: `${operationId}Head`,
      summary: `Get the headers of ${what}`,
      description: 'As GET, without the body; also a refusal has none.',
      responses,
    },
    options: {
      ...common,
      operationId: `${operationId}Options`,
      summary: `Get the parameters for ${what}`,
      description:
        'One object for each parameter that the path takes. Each one that is sent is checked as by GET.',
      responses: {
        200: {
          description: 'The parameters.',
          headers: headersNamed(...COMMON, ...COUNTED, 'Allow'),
          content: json({ $ref: '#/components/schemas/AllowedParameters' }),
        },
        ...errorResponses.of(
          errorsOf({ ...endpoint, pathParameters: [] }).filter(
            (definition) => !NOT_OF_OPTIONS.includes(definition),
          ),
        ),
      },
    },
  };
}

/** The errors of a `GET` that depend on data, or on a parameter that `OPTIONS` does not require. */
const NOT_OF_OPTIONS: readonly ErrorDefinition[] = [errors.objectUnknown, errors.parameterMissing];

/** Whether the responses of an endpoint have an `ETag`. */
function isTagged({ kind, pathParameters }: DescribedEndpoint): boolean {
  return kind !== 'object' || pathParameters.length > 0;
}

const DESCRIPTIONS: Readonly<Record<DescribedEndpoint['kind'], string>> = {
  list: 'The objects that meet all the filters, and the count of all that do.',
  facets:
    'For each field and each of its values, how many objects of the list meet the filters, without those on the field itself; most frequent first.',
  object: 'The object with this identifier.',
};

/** The possible errors of a `GET`. */
function errorsOf({ pathParameters, parameters }: DescribedEndpoint): ErrorDefinition[] {
  const isIdentified = pathParameters.length > 0;
  const isWalked = parameters.some(({ name }) => name === 'after');
  const isNarrowed = parameters.some(({ name }) => ['fields', 'sort', 'facets'].includes(name));
  const isNumbered = parameters.some(({ schema }) => schema.type === 'integer');
  return [
    ...WITH_CREDENTIALS,
    ...(isIdentified || isWalked ? [errors.objectUnknown] : []),
    ...(parameters.some(({ isRequired }) => isRequired) ? [errors.parameterMissing] : []),
    ...(isIdentified || parameters.length > 0 ? [errors.parameterInvalid] : []),
    ...(isNarrowed ? [errors.nameUnknown] : []),
    ...(isNumbered ? [errors.outOfRange] : []),
  ];
}

function success(endpoint: DescribedEndpoint): Json {
  const { metadata, kind, maximumObjects } = endpoint;
  const name = kind === 'facets' ? 'FacetCount' : metadata?.name;
  const schema = name ? { $ref: `#/components/schemas/${name}` } : { type: 'object' };
  return {
    description: {
      list: 'A page, and the count of all that match.',
      facets: 'The counts. `count` is the number of all values, whatever `limit` says.',
      object: 'The one object.',
    }[kind],
    headers: headersNamed(
      ...COMMON,
      ...COUNTED,
      'Content-Encoding',
      ...(isTagged(endpoint) ? ['ETag'] : []),
      ...{
        list: ['Link', 'X-Total-Count', 'X-Updated-Until'],
        facets: ['X-Updated-Until'],
        object: [],
      }[kind],
    ),
    content: {
      ...json(
        kind === 'facets'
          ? envelope(schema, maximumObjects, 'All values with a match, whatever `limit` says.')
          : envelope(schema, maximumObjects),
      ),
      ...(kind === 'list' && WHOLE),
    },
  };
}

/**
 * Schema of the envelope with at most `maxItems` objects.
 *
 * @param counted what `count` counts
 */
export function envelope(
  items: Json,
  maxItems: number,
  counted = 'All that match, whatever `limit`, `offset` and `fields` say.',
): Json {
  return objectOf({
    result: { $ref: '#/components/schemas/Success' },
    response_data: objectOf({
      count: {
        description: counted,
        type: 'string',
        pattern: '^[0-9]+$',
        maxLength: 20,
        examples: ['1'],
      },
      objects: { type: 'array', items, maxItems },
    }),
  });
}

function inPath({ metadata }: DescribedEndpoint, name: string): Json {
  const { meaning, example } = (metadata && meaningOf(metadata.target as object, name)) ?? {};
  return {
    name,
    in: 'path',
    required: true,
    description: meaning ?? 'Identifies the object.',
    schema: {
      type: 'string',
      minLength: 1,
      maxLength: IDENTIFIER_LENGTH,
      pattern: '^[^\\u0000]+$',
    },
    ...(example !== undefined && { example }),
  };
}

function inQuery(
  { metadata }: DescribedEndpoint,
  { name, meaning, schema, example, isRequired = false }: DescribedParameter,
): Json {
  // The example of the filtered field is more specific than that of the parameter's type.
  const own = metadata && meaningOf(metadata.target as object, name)?.example;
  return {
    name,
    in: 'query',
    ...(isRequired && { required: true }),
    description: meaning,
    // In the schema: Swagger UI would send a parameter-level example for every empty input.
    schema: {
      ...schema,
      examples: [exampleOf(schema, own ?? example)],
    },
    ...(schema.type === 'array' && { style: 'form', explode: false }),
  };
}

/** Converts a query text to the type of the schema. */
function exampleOf({ type }: ParameterSchema, text: string): unknown {
  switch (type) {
    case 'integer':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'array':
      return text.split(',');
    default:
      return text;
  }
}

const wholeText = (description: string): Json => ({
  schema: {
    description,
    type: 'string',
    maxLength: Number.MAX_SAFE_INTEGER,
    pattern: '^[^\\u0000]*$',
  },
});

/** The media types of a whole list, which has no envelope and no default limit. */
const WHOLE = {
  'application/x-ndjson': wholeText(
    'All objects of the list, or as many as `limit` says, each as JSON in a line of its own.',
  ),
  'text/csv': wholeText(
    'The same as CSV (RFC 4180) with a line of names, safe to open in a spreadsheet.',
  ),
};

function unchanged({ kind }: DescribedEndpoint): Json {
  return {
    description: 'Not Modified: what `If-None-Match` names is what there is. No body.',
    headers: headersNamed(
      ...COMMON,
      ...COUNTED,
      'ETag',
      ...(kind === 'object' ? [] : ['X-Updated-Until']),
    ),
  };
}

const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of what the client has: 304 if it is still the same.',
  schema: {
    type: 'string',
    maxLength: 8192,
    pattern: '^(\\*|(W/)?".*")$',
    examples: ['W/"1042-Zk3vY1x0aB7q"'],
  },
};

const REQUEST_ID = {
  name: 'X-Request-Id',
  in: 'header',
  description: 'Names the request, if it is a plain token; else it is given a name.',
  schema: {
    type: 'string',
    maxLength: 128,
    pattern: '^[A-Za-z0-9._~-]+$',
    examples: ['order-42'],
  },
};
