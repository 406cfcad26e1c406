import type { EntityMetadata } from 'typeorm';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { separableValue } from '../http/parameters/declared-parameters.js';
import { meaningOf } from '../resource/declaration.js';
import { FILTER_FORMS, readingsOf } from '../resource/filter-forms.js';
import { exampleOfShape, schemaOfShape } from '../resource/json-shape.js';
import { isVersioned } from '../resource/resource.js';
import {
  CREDENTIALS,
  type DescribedEndpoint,
  type DescribedParameter,
  fixedParts,
  namesIn,
  type PathParameter,
  resourceOf,
} from './described-endpoint.js';
import {
  COMMON,
  errorReferences,
  headersNamed,
  notModified,
  RATE_LIMIT,
  THROWN,
  WITH_CREDENTIALS,
} from './responses.js';
import { anyPage, exampleObject, exampleOf, json, type Json, referenceTo } from './schema.js';

/** The `GET` operation of an endpoint. */
export function operation(endpoint: DescribedEndpoint): Json {
  return {
    tags: [resourceOf(endpoint)],
    operationId: operationId(endpoint),
    summary: endpoint.meaning?.replace(/\.$/, '') ?? KINDS[endpoint.kind].summary(endpoint),
    description: description(endpoint),
    parameters: [
      ...parameterObjects(endpoint),
      ...(isTagged(endpoint) ? [IF_NONE_MATCH_REFERENCE] : []),
      ...(endpoint.kind !== 'object' && isTagged(endpoint)
        ? [{ $ref: '#/components/parameters/Prefer' }]
        : []),
    ],
    security: CREDENTIALS,
    responses: {
      200: success(endpoint),
      ...(isTagged(endpoint) && {
        304: notModified(...RATE_LIMIT, ...versionHeadersOf(endpoint)),
      }),
      ...errorReferences(errorsOf(endpoint)),
    },
  };
}

/** The name of the method of a generated client, such as `listProducts`. */
function operationId({ kind, metadata, method, controller }: DescribedEndpoint): string {
  if (kind === 'facets' && metadata) return `list${metadata.name}Facets`;
  const name =
    kind === 'object' && metadata ? metadata.name : controller.name.replace(/Controller$/, '');
  return `${method}${name}`;
}

/** What the document says of each kind of endpoint. */
const KINDS = {
  list: {
    summary: (endpoint: DescribedEndpoint) => `List ${objectsOf(endpoint)}`,
    description:
      'The objects that meet all the filters, and the count of all that do. `Accept: application/x-ndjson` or `text/csv` gives all of them as a stream, or as many as `limit` says.',
    success: 'A page, and the count of all that match.',
    headers: ['Link', 'X-Total-Count'],
  },
  facets: {
    summary: (endpoint: DescribedEndpoint) => `Count ${resourceOf(endpoint)} by value`,
    description:
      'For each field, how many objects of the list have each of its values, the most frequent first; of a number or a time, its limits, or how many are in each interval; of a search that finds nothing, near texts that do. A filter on the field itself is ignored.',
    success: 'The counts. `count` is the number of all values, whatever `limit` says.',
    headers: [],
  },
  object: {
    summary: (endpoint: DescribedEndpoint) => `Get one ${nameOfObject(endpoint)}`,
    description: 'The object with this identifier.',
    success: 'The object, as the only one of a page.',
    headers: [],
  },
  changes: {
    summary: () => 'List the changes of several resources',
    description:
      'The objects of some resources, or what changed and was deleted since a time, all of one moment. Each line is a JSON object: `{"resource":"…","object":{…}}`, or with `deleted`, the identifier, in place of `object`. It needs `Accept: application/x-ndjson`.',
    success: 'The lines.',
    headers: ['X-Total-Count'],
  },
  other: {
    summary: (endpoint: DescribedEndpoint) => `Get ${objectsOf(endpoint)}`,
    description: 'A path of its own.',
    success: 'What the path gives.',
    headers: [],
  },
} satisfies Record<DescribedEndpoint['kind'], object>;

function objectsOf(endpoint: DescribedEndpoint): string {
  return fixedParts(endpoint).join(' of ');
}

/** The name of the entity as words, such as `order line`. */
function nameOfObject(endpoint: DescribedEndpoint): string {
  const { metadata } = endpoint;
  if (!metadata) return objectsOf(endpoint);
  return metadata.name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
}

function description({ kind, parameters, meaning }: DescribedEndpoint): string {
  const words = (kind === 'other' ? meaning : undefined) ?? KINDS[kind].description;
  return parameters.length === 0 ? words : `${words} Any other parameter is refused with \`-23\`.`;
}

/** Whether the responses of an endpoint have an `ETag`. A list has one of its version. */
function isTagged({ kind, metadata }: DescribedEndpoint): boolean {
  return kind === 'list' ? !metadata || isVersioned(metadata) : kind !== 'other';
}

/** The headers of lists and facets whose changes have versions and times. */
function versionHeadersOf(endpoint: DescribedEndpoint): string[] {
  return endpoint.kind !== 'object' && isTagged(endpoint)
    ? ['X-Updated-Until', 'Preference-Applied']
    : [];
}

/** The possible errors of a `GET`. */
export function errorsOf(endpoint: DescribedEndpoint): ErrorDefinition[] {
  const { kind, pathParameters, parameters } = endpoint;
  const isIdentified = pathParameters.length > 0;
  const isWalked = parameters.some(({ name }) => name === 'after');
  const takesNames = parameters.some(({ name }) => ['fields', 'sort', 'facets'].includes(name));
  const isOfChanges =
    kind !== 'other' && parameters.some(({ name }) => ['since', 'updatedSince'].includes(name));
  const isNumbered =
    parameters.some(({ schema }) => isNumber(schema) || (schema.items && isNumber(schema.items))) ||
    pathParameters.some(({ schema }) => isNumber(schema));
  return [
    ...WITH_CREDENTIALS,
    ...(kind === 'other' ? THROWN : []),
    ...(kind === 'changes' ? [errors.refused] : []),
    ...(isIdentified || isWalked ? [errors.objectUnknown] : []),
    ...(isIdentified || parameters.length > 0 ? [errors.parameterInvalid] : []),
    ...(takesNames ? [errors.nameUnknown] : []),
    ...(isNumbered ? [errors.outOfRange] : []),
    ...(isOfChanges ? [errors.historyLost] : []),
  ];
}

/** Whether a value beyond a range gets `-26`. */
function isNumber({ type, format }: { type?: unknown; format?: unknown }): boolean {
  return type === 'integer' || format === 'int64';
}

function success(endpoint: DescribedEndpoint): Json {
  const { kind } = endpoint;
  return {
    description: KINDS[kind].success,
    headers: headersNamed(
      ...COMMON,
      ...RATE_LIMIT,
      'Content-Encoding',
      ...(isTagged(endpoint) ? ['ETag'] : []),
      ...KINDS[kind].headers,
      ...versionHeadersOf(endpoint),
    ),
    content: content(endpoint),
  };
}

/** What the objects of a success are: as the handler says, as the entity does, or any. */
function content(endpoint: DescribedEndpoint): Json {
  const { metadata, kind, returned } = endpoint;
  if (kind === 'changes') return { 'application/x-ndjson': { schema: { type: 'string' } } };
  if (returned)
    return json(anyPage(schemaOfShape(returned)), examplePage(exampleOfShape(returned)));
  if (!metadata) return json(anyPage());
  const object =
    kind === 'facets' ? exampleFacet(endpoint) : exampleObject(metadata, endpoint.columns);
  return json(referenceTo(pageName(endpoint, metadata)), examplePage(object));
}

/** The name of the schema of a page, such as `ProductPage`. */
export function pageName({ kind }: DescribedEndpoint, { name }: EntityMetadata): string {
  return kind === 'facets' ? `${name}FacetPage` : `${name}Page`;
}

/** A page with one object. */
function examplePage(object: unknown): Json {
  return {
    result: { status: 'OK', errcode: '0', msg: '' },
    response_data: { count: '1', objects: [object] },
  };
}

function exampleFacet(endpoint: DescribedEndpoint): Json {
  const [field = ''] = namesIn(endpoint, 'facets');
  const filter = endpoint.parameters.find(({ name }) => name === field);
  return {
    field,
    value: (filter && exampleText(endpoint, filter)) ?? 'a',
    label: null,
    count: '1',
  };
}

/** The Parameter Objects of an endpoint: those of its path, then those of its query. */
export function parameterObjects(endpoint: DescribedEndpoint): Json[] {
  return [
    ...endpoint.pathParameters.map(inPath),
    ...endpoint.parameters.map((parameter) => inQuery(endpoint, parameter)),
  ];
}

function inPath({ name, meaning, schema, example }: PathParameter): Json {
  return {
    name,
    in: 'path',
    required: true,
    description: meaning,
    schema,
    ...(example !== undefined && { example: exampleOf(schema, example) }),
  };
}

function inQuery(endpoint: DescribedEndpoint, parameter: DescribedParameter): Json {
  const { name, meaning, schema } = parameter;
  const { default: value, ...withoutDefault } = schema;
  const isArray = schema.type === 'array';
  const example = exampleText(endpoint, parameter);
  const preset = Array.isArray(value) ? ` Default: \`${value.join()}\`.` : '';
  return {
    name,
    in: 'query',
    // Generators of validators misread the default of an array, so it is in the description.
    description: meaning + preset,
    schema: {
      ...(isArray ? withoutDefault : schema),
      // In the schema: a page that sends requests would send the example of a parameter by default.
      ...(example !== undefined && { examples: [exampleOf(schema, example)] }),
    },
    ...(isArray && { style: 'form', explode: false }),
  };
}

/**
 * A valid value of a query parameter, as text; `undefined` if all that is known is that it is some text. The example of the field that it filters by is more specific than that of its type.
 */
export function exampleText(
  { metadata }: DescribedEndpoint,
  { name, schema, example }: DescribedParameter,
): string | undefined {
  // That of the declaration has names that are not for every client; that of `sort` has every name, for `verify`.
  const names = schema.items?.enum;
  if (names && !names.some((each) => each === example)) return names.at(-1);
  // Any other number would be taken for a recommendation.
  if (typeof schema.default === 'number') return String(schema.default);
  const identifier = metadata?.primaryColumns[0]?.propertyName ?? '';
  const fields = name === 'after' ? [identifier] : valueFields(name);
  const own = fields
    .map((field) => {
      const value = metadata && meaningOf(metadata.target as object, field)?.example;
      const isOneOfSeveral =
        schema.type === 'array' && !metadata?.findColumnWithPropertyName(field)?.isArray;
      return isOneOfSeveral && value !== undefined ? separableValue(value) : value;
    })
    .find((each) => each !== undefined);
  return own ?? example;
}

/** The fields whose values a filter of this name may take. */
function valueFields(filter: string): string[] {
  return readingsOf(filter).flatMap(({ end, column }) =>
    ['values', 'items'].includes(FILTER_FORMS[end].takes) ? [column] : [],
  );
}

/** A reference to `If-None-Match` in `components.parameters`. */
export const IF_NONE_MATCH_REFERENCE = { $ref: '#/components/parameters/If-None-Match' };

/** `Prefer`, in `components.parameters`. */
export const PREFER = {
  name: 'Prefer',
  in: 'header',
  description:
    '`wait=<seconds>`, up to 60: a response that would be 304, or a list of changes without any, waits until something changes (RFC 7240).',
  schema: { type: 'string', maxLength: 8192, pattern: '^[^\\s].*$', examples: ['wait=50'] },
};

/** `If-None-Match`, in `components.parameters`. */
export const IF_NONE_MATCH = {
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
