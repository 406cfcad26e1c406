import type { INestApplicationContext } from '@nestjs/common';
import { createRequire } from 'node:module';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { AllowedParameter } from '../http/parameters/allowed-parameters.js';
import { endpointsOf } from '../http/endpoints.js';
import type { Settings } from '../settings/settings.js';
import { overview } from './overview.js';
import {
  collectionOf,
  CREDENTIALS,
  described,
  type DescribedEndpoint,
  envelope,
  pathItem,
} from './paths.js';
import { headers, ErrorResponses } from './responses.js';
import { type Json, objectOf, resourceSchema } from './schema.js';
import { servicePaths } from './service-paths.js';

const { version } = createRequire(import.meta.url)('../../package.json') as { version: string };

/**
 * The OpenAPI 3.1 document of an application. It is generated from the endpoints of Nest, the
 * parameters of the query classes, the entities of TypeORM, and the table of errors. `@nestjs/swagger`
 * is not used: it describes bodies by classes and parameters by types, while here every parameter is
 * a text with its own parser, every body is an envelope, and null is a type (OpenAPI 3.1).
 */
export function openapiDocument(application: INestApplicationContext, settings: Settings): Json {
  const dataSource = application.get(DataSource);
  const endpoints = endpointsOf(application).map((endpoint) =>
    described(endpoint, dataSource, settings),
  );
  const resources = new Set(endpoints.flatMap(({ metadata }) => metadata ?? []));
  const errorResponses = new ErrorResponses();
  const paths = {
    ...Object.fromEntries(
      endpoints.map((endpoint) => [endpoint.template, pathItem(endpoint, errorResponses)]),
    ),
    ...servicePaths(errorResponses),
  };
  return {
    openapi: '3.1.1',
    info: {
      title: 'Catalogue',
      version,
      summary: 'Strict list endpoints with exact counts.',
      description: overview(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/', description: 'This service' }],
    tags: [
      ...[...new Set(endpoints.map(collectionOf))].map((name) => ({
        name,
        description: name.startsWith('facets of ')
          ? `How many objects have which value: ${name}.`
          : `Lists of ${name}${name.includes(' ') ? '.' : ', and one of them by its identifier.'}`,
      })),
      { name: 'service', description: 'What tells of the service itself.' },
    ],
    security: CREDENTIALS,
    paths,
    components: {
      securitySchemes,
      headers: headers(settings.rateLimit),
      responses: errorResponses.responses,
      schemas: {
        Success: objectOf({
          status: { const: 'OK' },
          errcode: { const: '0' },
          msg: { const: '' },
        }),
        FacetCount: facetCount,
        AllowedParameters: envelope(allowedParameter, 1000),
        ...Object.fromEntries(
          [...resources].map((metadata) => [
            metadata.name,
            resourceSchema(metadata, includedIn(endpoints, metadata)),
          ]),
        ),
      },
    },
  };
}

/** The names of the related objects that a list of a resource may include. */
function includedIn(endpoints: readonly DescribedEndpoint[], of: EntityMetadata): string[] {
  return endpoints
    .filter(({ metadata }) => metadata === of)
    .flatMap(({ parameters }) => parameters.find(({ name }) => name === 'include') ?? [])
    .flatMap(({ schema }) => schema.items?.enum ?? []);
}

const securitySchemes = {
  'X-Client-ID': {
    type: 'apiKey',
    in: 'header',
    name: 'X-Client-ID',
    description: 'Who asks, beside the header Authorization.',
  },
  Authorization: {
    type: 'http',
    scheme: 'bearer',
    description: 'The access token of the client, an opaque text: RFC 6750.',
  },
  clientID: {
    type: 'apiKey',
    in: 'query',
    name: 'clientID',
    description: 'Who asks, beside the parameter access_token.',
  },
  access_token: {
    type: 'apiKey',
    in: 'query',
    name: 'access_token',
    description:
      'The access token of the client. Query strings end up in logs: prefer the headers.',
  },
};

const shortText = { type: 'string', minLength: 1, maxLength: 500, pattern: '^[^\\u0000]+$' };
const bound = {
  type: ['integer', 'null'],
  format: 'int64',
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
};

const facetCount = objectOf({
  field: { description: 'The name of the field.', ...shortText },
  value: {
    description: 'The value, as text.',
    type: 'string',
    maxLength: 1_000_000,
    pattern: '^[^\\u0000]*$',
  },
  count: {
    description: 'The number of objects that have it.',
    type: 'string',
    pattern: '^[0-9]+$',
    maxLength: 20,
  },
});

const allowedParameter = objectOf({
  name: { description: 'As it stands in the query.', ...shortText },
  type: {
    description: '`array`: values separated by commas; `decimal`, `date-time`: texts of that form.',
    type: 'string',
    enum: ['string', 'integer', 'boolean', 'array', 'decimal', 'date-time'],
  },
  allowedValues: {
    description: 'Every value that it may have, of an array every value in it; null for any.',
    type: ['array', 'null'],
    items: { anyOf: [shortText, { type: 'boolean' }] },
    maxItems: 1000,
  },
  minimum: { description: 'The least that a number may be.', ...bound },
  maximum: { description: 'The most that a number may be.', ...bound },
  default: { description: 'What stands for it where it is not given.' },
  required: { description: 'Whether no request does without it.', type: 'boolean' },
  meaning: { description: 'What it does.', ...shortText },
} satisfies Record<keyof AllowedParameter, Json>);
