import type { INestApplicationContext } from '@nestjs/common';
import { readFileSync } from 'node:fs';
import { DataSource } from 'typeorm';
import { endpointsOf } from '../http/endpoints.js';
import { errors } from '../http/errors.js';
import { type ParameterSettings, settingsFor } from '../http/parameters/declared-parameters.js';
import { withFacets } from '../list/facets/facet-endpoints.js';
import { MAXIMUM_BOUNDS } from '../list/facets/facets-query.dto.js';
import { refusalOf } from '../list/rights.guard.js';
import { FILTER_ENDS, FILTER_FORMS } from '../resource/filter-forms.js';
import type { ScopeClient } from '../resource/visibility.js';
import type { Settings } from '../settings/settings.js';
import {
  CREDENTIALS,
  described,
  type DescribedEndpoint,
  namesIn,
  resourceOf,
  SECURITY_SCHEMES,
} from './described-endpoint.js';
import {
  ANYWHERE,
  COMMON,
  ERROR_ENVELOPE,
  errorReferences,
  errorResponses,
  headers,
  headersNamed,
  notModified,
  WITH_CREDENTIALS,
} from './responses.js';
import {
  errorsOf,
  IF_NONE_MATCH,
  IF_NONE_MATCH_REFERENCE,
  operation,
  pageName,
  PREFER,
} from './operation.js';
import { facetCount, json, type Json, pageOf, resourceSchema, SUCCESS } from './schema.js';
import { VERSION } from '../package.js';

/**
 * The OpenAPI 3.1 document of an application, from endpoints, query classes, entities and the table of errors.
 * `@nestjs/swagger` describes bodies by classes and parameters by types, while here every parameter is a text with its
 * own parser, every body is an envelope, and null is a type.
 *
 * @param client for whom it is; absent: of everything
 */
export function openapiDocument(
  application: INestApplicationContext,
  settings: Settings,
  client?: ScopeClient,
): Json {
  const ofClient = settingsFor(settings, client);
  const endpoints = endpointsFor(application, ofClient);
  return {
    openapi: '3.1.1',
    info: {
      title: 'Catalogue',
      version: VERSION,
      summary: 'Strict list endpoints with exact counts.',
      description: overview(),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the document, which a proxy may have at any path.
    servers: [{ url: '.', description: 'This service' }],
    tags: [
      ...[...new Set(endpoints.map(resourceOf))].map((name) => ({
        name,
        description: name === 'changes' ? 'Copies.' : `Lists and objects of ${name}.`,
      })),
      { name: 'service', description: 'This documentation.' },
    ],
    security: CREDENTIALS,
    paths: {
      ...Object.fromEntries(
        endpoints.map((endpoint) => [endpoint.template, { get: operation(endpoint) }]),
      ),
      ...servicePaths(),
    },
    components: {
      securitySchemes: SECURITY_SCHEMES,
      parameters: { 'If-None-Match': IF_NONE_MATCH, Prefer: PREFER },
      headers: headers(settings.rateLimit),
      responses: errorResponses(new Set([...ANYWHERE, ...endpoints.flatMap(errorsOf)])),
      schemas: {
        Success: SUCCESS,
        ErrorEnvelope: ERROR_ENVELOPE,
        ...Object.fromEntries(
          endpoints.flatMap((endpoint) => Object.entries(schemasOf(endpoint, endpoints, ofClient))),
        ),
      },
    },
  };
}

/** The endpoints that a client may ask, with what it may use of each: those of resources first. */
export function endpointsFor(
  application: INestApplicationContext,
  ofClient: ParameterSettings,
): DescribedEndpoint[] {
  const dataSource = application.get(DataSource);
  return withFacets(endpointsOf(application))
    .filter(({ query }) => refusalOf(query, ofClient.rights) === undefined)
    .map((endpoint) => described(endpoint, dataSource, ofClient))
    .sort((one, other) => Number(one.kind === 'changes') - Number(other.kind === 'changes'));
}

/** The schemas of the objects and of the page of an endpoint, by name. */
function schemasOf(
  endpoint: DescribedEndpoint,
  endpoints: readonly DescribedEndpoint[],
  { maxLimit }: ParameterSettings,
): Json {
  const { metadata, kind, columns } = endpoint;
  if (!metadata) return {};
  const page = pageName(endpoint, metadata);
  if (kind === 'facets') {
    const fields = namesIn(endpoint, 'facets');
    const name = `${metadata.name}FacetCount`;
    const count = 'All values with a match, and all intervals, whatever `limit` says.';
    return {
      [name]: facetCount(fields),
      [page]: pageOf(name, count, Math.max(maxLimit * fields.length, MAXIMUM_BOUNDS + 1)),
    };
  }
  const count = 'All that match, whatever `limit`, `offset` and `fields` say.';
  const included = endpoints
    .filter((other) => other.metadata === metadata)
    .flatMap((other) => namesIn(other, 'include'));
  return {
    [metadata.name]: resourceSchema(metadata, columns, included),
    [page]: pageOf(metadata.name, count, maxLimit),
  };
}

/** The description of what applies to all endpoints, as Markdown: `overview.md` with all errors and forms of filters. */
export function overview(): string {
  const rows = Object.values(errors).map(
    ({ errcode, statuses, condition, message }) =>
      `| \`${errcode}\` | ${statuses.join(', ')} | ${condition} | \`${message}\` |`,
  );
  const table = ['| errcode | HTTP | condition | msg |', '| --- | --- | --- | --- |', ...rows];
  const forms = FILTER_ENDS.filter((end) => end !== '').map(
    (end) => `- \`…${end}\` keeps the objects ${FILTER_FORMS[end].keeps}.`,
  );
  return readFileSync(new URL('overview.md', import.meta.url), 'utf8')
    .replace('<!-- errors -->', () => table.join('\n'))
    .replace('<!-- forms of filters -->', () => forms.join('\n'));
}

/** The paths of the service itself. They need no credentials and ignore other parameters. */
function servicePaths(): Json {
  return {
    '/docs': publicPath({
      operationId: 'getDocumentation',
      summary: 'Read this document, and send requests',
      description: 'A page for browsers, to which `/` leads them. Parameters are ignored.',
      content: { 'text/html': { schema: { type: 'string' } } },
    }),
    '/openapi.json': pathFor('getOpenapi', 'Get this document', json({ type: 'object' })),
    '/llms.txt': pathFor('getLlms', 'Get what there is, for language models', TEXT),
    '/llms-full.txt': pathFor('getLlmsFull', 'Get this document as a text', TEXT),
  };
}

/** Markdown. */
const TEXT = { 'text/plain': { schema: { type: 'string' } } };

/** A path that shows a client what it may use. */
function pathFor(operationId: string, summary: string, content: Json): Json {
  const description =
    'As it is, not in an envelope. With credentials, what their client may use. Other parameters are ignored.';
  const security = [{}, ...CREDENTIALS];
  return publicPath({ operationId, summary, description, security, content }, WITH_CREDENTIALS);
}

function publicPath({ content, ...rest }: Json, possible = ANYWHERE): Json {
  const named = headersNamed(...COMMON, 'Content-Encoding', 'ETag');
  return {
    get: {
      tags: ['service'],
      security: [],
      ...rest,
      parameters: [IF_NONE_MATCH_REFERENCE],
      responses: {
        200: { description: 'What is asked for.', headers: named, content },
        304: notModified(),
        ...errorReferences(possible),
      },
    },
  };
}
