import type { EntityMetadata } from 'typeorm';
import { type ErrorDefinition, errors } from '../http/errors.js';
import { codeSamples } from './code-samples.js';
import {
  countedFields,
  type DescribedEndpoint,
  fixedParts,
  resourceOf,
} from './described-endpoint.js';
import { exampleObject } from './example-object.js';
import { COMMON, COUNTED, headersNamed } from './headers.js';
import { exampleText, parameterObjects } from './parameters.js';
import { errorReferences, WITH_CREDENTIALS } from './responses.js';
import { json, type Json, referenceTo } from './schema.js';

/** The alternatives for credentials: in headers or in the query, not in both. */
export const CREDENTIALS = [
  { 'X-Client-ID': [], Authorization: [] },
  { clientID: [], access_token: [] },
];

/** The `GET` operation of an endpoint. */
export function operation(endpoint: DescribedEndpoint): Json {
  return {
    tags: [resourceOf(endpoint)],
    operationId: operationId(endpoint),
    summary: summary(endpoint),
    description: description(endpoint),
    parameters: [
      ...parameterObjects(endpoint),
      ...(isTagged(endpoint) ? [{ $ref: '#/components/parameters/If-None-Match' }] : []),
    ],
    security: CREDENTIALS,
    responses: {
      200: success(endpoint),
      ...(isTagged(endpoint) && { 304: unchanged(endpoint) }),
      ...errorReferences(errorsOf(endpoint)),
    },
    'x-codeSamples': codeSamples(endpoint),
  };
}

/** The name of the method of a generated client, such as `listProducts`. */
function operationId({ kind, metadata, method, controller }: DescribedEndpoint): string {
  const name =
    kind === 'object' && metadata ? metadata.name : controller.name.replace(/Controller$/, '');
  return `${method}${name}`;
}

function summary(endpoint: DescribedEndpoint): string {
  const { kind, metadata } = endpoint;
  const objects = fixedParts(endpoint).join(' of ');
  switch (kind) {
    case 'list':
      return `List ${objects}`;
    case 'facets':
      return `Count ${resourceOf(endpoint)} by value`;
    case 'object':
      return metadata ? `Get ${withArticle(metadata.name)}` : `Get ${objects}`;
  }
}

/** A name in PascalCase as words with an article, such as `an order line`. */
function withArticle(name: string): string {
  const words = name.replace(/(?<=[a-z0-9])(?=[A-Z])/g, ' ').toLowerCase();
  return `${/^[aeiou]/.test(words) ? 'an' : 'a'} ${words}`;
}

function description(endpoint: DescribedEndpoint): string {
  const { kind, parameters } = endpoint;
  const words = {
    list: `The objects that meet all the filters, and the count of all that do. \`Accept: application/x-ndjson\` or \`text/csv\` gives all of them as a stream, or as many as \`limit\` says.`,
    facets:
      'For each field and each of its values, how many objects of the list meet the filters, without those on the field itself; most frequent first.',
    object: 'The object with this identifier.',
  }[kind];
  return parameters.length === 0 ? words : `${words} Any other parameter is refused with \`-23\`.`;
}

/** Whether the responses of an endpoint have an `ETag`. */
function isTagged({ kind, pathParameters }: DescribedEndpoint): boolean {
  return kind !== 'object' || pathParameters.length > 0;
}

/** The possible errors of a `GET`. */
export function errorsOf({ pathParameters, parameters }: DescribedEndpoint): ErrorDefinition[] {
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
  const { metadata, kind } = endpoint;
  return {
    description: {
      list: 'A page, and the count of all that match.',
      facets: 'The counts. `count` is the number of all values, whatever `limit` says.',
      object: 'The object, as the only one of a page.',
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
    content: metadata
      ? json(referenceTo(pageName(endpoint, metadata)), examplePage(endpoint, metadata))
      : json({ type: 'object' }),
  };
}

/** The name of the schema of a page, such as `ProductPage`. */
export function pageName({ kind }: DescribedEndpoint, { name }: EntityMetadata): string {
  return kind === 'facets' ? `${name}FacetPage` : `${name}Page`;
}

function examplePage(endpoint: DescribedEndpoint, metadata: EntityMetadata): Json {
  const object = endpoint.kind === 'facets' ? exampleFacet(endpoint) : exampleObject(metadata);
  return {
    result: { status: 'OK', errcode: '0', msg: '' },
    response_data: { count: '1', objects: [object] },
  };
}

function exampleFacet(endpoint: DescribedEndpoint): Json {
  const [field = ''] = countedFields(endpoint);
  const filter = endpoint.parameters.find(({ name }) => name === field);
  return { field, value: filter ? exampleText(endpoint, filter) : 'a', count: '1' };
}

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
