import { errors } from '#server/http/errors.js';
import * as list from '@catalogue/server';
import { FILTER_FORMS } from '#server/resource/filter-forms.js';
import { Settings } from '#server/settings/settings.js';
import type { Service } from '../service.js';
import type { ExpectedTable, Row } from './markdown.js';
import { measuredTables } from './measured-tables.js';

/** The project's own resources. Others may have been added. */
const RESOURCES = ['products', 'categories', 'brands', 'variants'];

/** The parameters of every list, which have a table of their own. */
const COMMON = ['fields', 'limit', 'offset', 'after', 'sort', 'updatedSince', 'updatedUntil'];

/** By document, every table that is derived from the code, by name. */
export async function expectedTables(
  service: Service,
): Promise<Record<string, Record<string, ExpectedTable>>> {
  const { body } = await service.anonymous().get('/openapi.json').expect(200);
  const options = await Promise.all(
    RESOURCES.map((resource) => service.anonymous().options(`/${resource}`).set(service.headers)),
  );
  const described = options.map(({ body: answer }) => answer.response_data.objects);
  return {
    'docs/api.md': {
      ...Object.fromEntries(
        RESOURCES.flatMap((resource) => [
          [`fields of ${resource}`, { rows: fieldRows(body, resource) }],
          [`filters of ${resource}`, { rows: filterRows(body, resource) }],
        ]),
      ),
      'parameters of every list': { rows: commonRows(body, described) },
      sorts: { rows: sortRows(body) },
      headers: { rows: headerRows(body) },
      errors: { rows: errorRows(), hasOwnMeanings: true },
    },
    'docs/operations.md': {
      settings: { rows: settingRows(), hasOwnMeanings: true },
    },
    'docs/resources.md': {
      'parameter decorators': { rows: decoratorRows(), hasOwnMeanings: true },
      'forms of filters': { rows: formRows() },
    },
    ...(await measuredTables()),
  };
}

// The document is JSON, whose shape its own test asserts.
/* eslint-disable @typescript-eslint/no-explicit-any */

/** The schema of a reference. */
function named(document: any, { $ref }: { $ref: string }): any {
  return document.components.schemas[$ref.split('/').at(-1) ?? ''];
}

function fieldRows(document: any, resource: string): Row[] {
  const { content } = document.paths[`/${resource}`].get.responses[200];
  const page = named(document, content['application/json'].schema);
  const { properties } = named(document, page.properties.response_data.properties.objects.items);
  const rows = Object.entries<any>(properties).map(([name, { type, description, ...rest }]) => {
    if (rest.oneOf) return [`\`${name}\``, 'related object', 'yes', description];
    if (rest.items?.$ref) return [`\`${name}\``, 'related objects', 'no', description];
    const types = [type].flat();
    const value = valueOf({ ...rest, type: types.find((each) => each !== 'null') });
    return [`\`${name}\``, value, types.includes('null') ? 'yes' : 'no', description];
  });
  return [['field', 'value', 'may be null', 'meaning'], ...rows];
}

function queryOf(document: any, resource: string): any[] {
  const { parameters } = document.paths[`/${resource}`].get;
  return parameters.filter((parameter: any) => parameter.in === 'query');
}

function filterRows(document: any, resource: string): Row[] {
  const filters = queryOf(document, resource).filter(
    ({ name }) => !COMMON.includes(name) && name !== 'include',
  );
  const rows = filters.map(({ name, schema, description }) => [
    `\`${name}\``,
    valueOf(schema),
    description,
  ]);
  return [['filter', 'value', 'keeps'], ...rows];
}

/**
 * Those of every list, whose names of fields differ.
 *
 * @param described what `OPTIONS` says of the parameters, by resource
 */
function commonRows(document: any, described: any): Row[] {
  const [rows = [], ...others] = RESOURCES.map((resource, at) =>
    queryOf(document, resource)
      .filter(({ name }) => COMMON.includes(name))
      .sort((one, other) => COMMON.indexOf(one.name) - COMMON.indexOf(other.name))
      .map(({ name, schema }) => {
        const isOfNames = schema.type === 'array';
        const value = isOfNames ? 'names, separated by commas' : valueOf(schema);
        const { default: preset, meaning } = described[at].find((each: any) => each.name === name);
        const names = preset?.length === 1 ? 'the identifier' : 'all';
        const byDefault = isOfNames && preset ? names : (preset ?? 'none');
        return [`\`${name}\``, value, String(byDefault), meaning.replaceAll(resource, 'objects')];
      }),
  );
  for (const other of others) {
    if (JSON.stringify(other) !== JSON.stringify(rows)) throw new Error('They differ by resource');
  }
  return [['parameter', 'value', 'default', 'meaning'], ...rows];
}

function sortRows(document: any): Row[] {
  const rows = RESOURCES.map((resource) => [
    `\`${resource}\``,
    ...['sort', 'include'].map((parameter) => {
      const found = queryOf(document, resource).find(({ name }) => name === parameter);
      const names: string[] = found?.schema.items.enum ?? [];
      const ascending = names.filter((name) => !name.startsWith('-'));
      return ascending.map((name) => `\`${name}\``).join(', ') || 'does not exist';
    }),
  ]);
  return [['resource', '`sort` may name', '`include` may name'], ...rows];
}

function headerRows(document: any): Row[] {
  const rows = Object.entries<any>(document.components.headers).map(([name, { description }]) => [
    `\`${name}\``,
    description,
  ]);
  return [['header', 'meaning'], ...rows];
}

/** What JSON Schema says of a value, in words. */
function valueOf(schema: any): string {
  const { type, format, items, minimum, maximum, minLength, maxLength } = schema;
  const values = schema.enum?.filter((value: unknown) => value !== null);
  const named = values?.map((value: string) => `\`${value}\``).join(', ');
  if (type === 'array') return `one or more: ${valueOf(items)}`;
  if (named) return named;
  if (type === 'boolean') return '`true`, `false`';
  if (type === 'integer') {
    return minimum < 0 ? 'integer of 32 bits' : `integer, ${minimum} to ${maximum}`;
  }
  if (format === 'decimal') return 'decimal';
  if (format === 'date-time') return 'time';
  if (format === 'int64') return 'integer of 64 bits';
  if (format === 'uuid') return 'UUID';
  if (format === 'date') return 'date';
  if (type === 'number') return 'number';
  if (type === undefined) return 'JSON';
  if (maxLength === undefined) return 'text';
  if (minLength === maxLength) return `text, ${maxLength} characters`;
  const length = minLength > 0 ? `${minLength} to ${maxLength}` : `at most ${maxLength}`;
  return `text, ${length} characters`;
}

/* eslint-enable @typescript-eslint/no-explicit-any */

function errorRows(): Row[] {
  const rows = Object.values(errors).map(({ errcode, statuses, condition, message }) => [
    `\`${errcode}\``,
    statuses.join(', '),
    condition,
    `\`${message}\``,
    '',
  ]);
  return [['errcode', 'HTTP', 'condition', 'msg', 'retry'], ...rows];
}

function decoratorRows(): Row[] {
  const names = Object.keys(list).filter((name) => /Params?$/.test(name));
  // That of several values stands beside that of one.
  const several = (name: string): string => name.replace('Param', 'sParam');
  const rows = names
    .filter((name) => !names.some((each) => several(each) === name))
    .sort()
    .map((name) => [name, several(name)].filter((each) => names.includes(each)));
  return [
    ['decorator', 'value'],
    ...rows.map((each) => [each.map((name) => `\`${name}\``).join(', '), '']),
  ];
}

function formRows(): Row[] {
  const rows = Object.entries(FILTER_FORMS).map(([end, { type, keeps }]) => [
    end === '' ? 'none' : `\`…${end}\``,
    type,
    keeps,
  ]);
  return [['end', 'property', 'keeps the objects'], ...rows];
}

const OWN_DATABASE = { DATABASE_URL: 'postgres://db/catalogue' };

/** The property that each variable sets, and what its value is multiplied by. */
const PROPERTIES: Readonly<Record<string, readonly [Exclude<keyof Settings, 'with'>, number?]>> = {
  PORT: ['port'],
  ADMIN_PORT: ['adminPort'],
  HOST: ['host'],
  DATABASE_URL: ['databaseUrl'],
  DATABASE_REPLICA_URLS: ['replicaUrls'],
  MAX_REPLICA_LAG_MS: ['maxReplicaLag'],
  DATA_DIR: ['dataDir'],
  MAX_LIMIT: ['maxLimit'],
  QUERY_TIMEOUT_MS: ['queryTimeout'],
  PAGE_CACHE_MB: ['pageCache', 1024 * 1024],
  POOL_SIZE: ['poolSize'],
  RATE_LIMIT_PER_MINUTE: ['rateLimit'],
  FAILED_LOGINS_PER_MINUTE: ['failedLogins'],
  MAX_REQUESTS_PER_CLIENT: ['maxRequestsPerClient'],
  MAX_STREAMS_PER_CLIENT: ['maxStreamsPerClient'],
  STREAM_TIMEOUT_MS: ['streamTimeout'],
  SEARCH_LANGUAGE: ['searchLanguage'],
  REDIS_URL: ['redisUrl'],
  DRAIN_MS: ['drain'],
  LOG_LEVEL: ['logLevel'],
  SLOW_LIST_MS: ['slowList'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['otlpEndpoint'],
  CORS_ORIGINS: ['corsOrigins'],
  TRUST_PROXY: ['trustProxy'],
};

/**
 * The variables that the settings read, in the order of `PROPERTIES`; an unknown one comes last. Those of files with a
 * secret are left out: they stand in for others.
 */
export function variables(): string[] {
  const read = new Set<string>();
  new Settings(
    new Proxy<NodeJS.ProcessEnv>(
      {},
      {
        get: (_, name) => {
          if (!String(name).endsWith('_FILE')) read.add(String(name));
          return undefined;
        },
      },
    ),
  );
  const known = Object.keys(PROPERTIES);
  return [
    ...known.filter((name) => read.has(name)),
    ...[...read].filter((n) => !known.includes(n)),
  ];
}

function settingRows(): Row[] {
  const rows = variables().map((name) => [
    `\`${name}\``,
    defaultOf(name),
    valueOfSetting(name),
    '',
  ]);
  return [['variable', 'default', 'value', 'meaning'], ...rows];
}

function defaultOf(name: string): string {
  const [embedded, own] = [{}, OWN_DATABASE].map((environment) => shown(environment, name));
  if (name === 'DATABASE_URL' || embedded === own) return String(embedded);
  return `${own} with \`DATABASE_URL\`, else ${embedded}`;
}

function shown(environment: NodeJS.ProcessEnv, name: string): string {
  const [property, factor = 1] = PROPERTIES[name] ?? [];
  if (!property) throw new Error(`Which property is ${name}?`);
  const value = new Settings(environment)[property];
  if (value === undefined || (Array.isArray(value) && value.length === 0)) return 'none';
  return typeof value === 'number' ? String(value / factor) : `\`${String(value)}\``;
}

/** What a variable must be, as the settings say when it is not. */
function valueOfSetting(name: string): string {
  try {
    new Settings({ ...OWN_DATABASE, [name]: '?' });
    return 'text';
  } catch (error) {
    return (error as Error).message.replace(`${name} must be `, '').replace(/^an? /, '');
  }
}
