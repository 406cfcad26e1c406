import { expect } from '@jest/globals';
import { separableValue, separatedValues } from '../http/parameters/declared-parameters.js';
import { naturalKey } from './natural-key.js';
import type { Random } from './random.js';
import type { Service } from './service.js';

/** A filter of a list: a value as a client may send it, and what the value means. */
export interface PlainFilter {
  /** The columns that it compares. Their facet counts ignore the filter. */
  readonly columns: readonly string[];
  readonly sample: (random: Random) => string;
  /** The objects that it keeps for a client, as SQL on the columns of the table. */
  readonly keeps: (value: string, client: string) => string;
}

/** A resource as plain SQL reads it, independent of the service. */
export interface PlainResource {
  readonly path: string;
  /** In SQL. */
  readonly table: string;
  readonly identifier: string;
  /** The columns that `sort` may name. */
  readonly sorts: readonly string[];
  /** The texts of columns that are sorted in the natural order. */
  readonly natural?: Readonly<Record<string, readonly string[]>>;
  readonly filters: Readonly<Record<string, PlainFilter>>;
  /** The objects that a client sees, as SQL. Default: all. */
  readonly seen?: (client: string) => string;
  /** The place of an object by relevance in a search, as SQL. */
  readonly relevance?: (words: string) => string;
  /** What `include` may name, each with a text of the related object, or of several, as SQL on `object`. */
  readonly included?: Readonly<Record<string, (client: string) => string>>;
  /** What facet counts tell of fields beside their values. */
  readonly facets?: PlainCountableFields;
}

interface PlainCountableFields {
  /** What the object is called that a field refers to, as SQL on `value`. */
  readonly labels: Readonly<Record<string, (client: string) => string>>;
  /** The column that `within` compares, and a query of `value`, one that it has, and each `node` that this is within. */
  readonly tree: { readonly column: string; readonly nodes: (client: string) => string };
  /** Arrays, whose items are counted. */
  readonly items?: readonly string[];
  /** The search. Plain SQL knows of no near words: a request that names it is without it, or finds something. */
  readonly search?: string | undefined;
  /** Fields such as `nameExists`: the column, and whether an object has a value or an item there, as SQL. */
  readonly presence?: Readonly<Record<string, readonly [column: string, is: string]>>;
  /** Numbers and times that are not counted by value, and their public form in SQL. */
  readonly ranges: Readonly<Record<string, (reference: string) => string>>;
}

/** The parameters of a list, as a client sends them. */
export type PlainRequest = Readonly<Record<string, string>>;

/** A page: the count of all matching objects, and each object of the page as text. */
export interface PlainPage {
  readonly count: string;
  /** The identifier, and what `included` tells of each related object. */
  readonly objects: readonly string[];
}

/**
 * A statement for the `PlainPage` of a list, by `count(*)` and `ORDER BY … LIMIT … OFFSET`. The page behind the object
 * `after` begins at the place that the object has, whether the filters keep it or not.
 */
export function plainPage(resource: PlainResource, request: PlainRequest, client = ''): string {
  const { table, identifier, included = {} } = resource;
  const { limit = '50', offset = '0', after } = request;
  const where = plainWhere(resource, request, client);
  const order = orderOf(resource, request);
  const related = namesIn(request.include).map(
    (name) => `coalesce(${included[name]?.(client)}, 'none')`,
  );
  const shown = `concat_ws(' ', ${[`object."${identifier}"`, ...related].join(', ')})`;
  const isAfter = `"${identifier}"::text = ${literal(after ?? '')}`;
  const objects =
    after === undefined
      ? `SELECT ${shown} FROM matching object ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`
      : `SELECT ${shown} FROM placed object WHERE at > (SELECT at FROM placed WHERE ${isAfter}) ORDER BY at LIMIT ${limit}`;
  return `WITH matching AS NOT MATERIALIZED (SELECT * FROM ${table} WHERE ${where}), placed AS (
      SELECT *, row_number() OVER (ORDER BY ${order}) AS at FROM ${table} WHERE ${where} OR ${isAfter}
    )
    SELECT (SELECT count(*)::text FROM matching) AS count, ARRAY(${objects}) AS objects`;
}

/** An object of a response as `PlainPage` has it; or facet counts of one value. */
export function shownObject(
  object: Readonly<Record<string, unknown>>,
  { include }: PlainRequest,
): string {
  if ('field' in object) {
    return [object.field, object.value, object.label ?? 'null', object.count].join(' ');
  }
  const related = namesIn(include).map((name) => {
    const shown = object[name] as { name: string } | Record<string, string>[] | null;
    if (!Array.isArray(shown)) return shown?.name ?? 'none';
    return `${String(object[`${name}Count`])}:${shown.map((each) => Object.values(each)[0]).join('+')}`;
  });
  return [Object.values(object)[0], ...related].join(' ');
}

/**
 * A statement for the facet counts of fields as a `PlainPage`, each with its field, value, label and count. Empty texts
 * have none.
 */
export function plainFacets(
  resource: PlainResource,
  fields: readonly string[],
  request: PlainRequest,
  client = '',
): string {
  const { limit = '50', facetStarts } = request;
  const valued = fields.filter((field) => field !== resource.facets?.search);
  const counts = valued.map((field, at) => {
    const label = resource.facets?.labels[field]?.(client) ?? 'NULL';
    const found = plainRanges(resource, field, request, client);
    if (found)
      return `SELECT ${at} AS at, place, '${field}' AS field, value, NULL AS label, count FROM (${found}) ranges`;
    const begins = (text: string): string =>
      `starts_with(lower(${text}), lower(${literal(facetStarts ?? '')}))`;
    return `SELECT ${at} AS at, row_number() OVER (ORDER BY count DESC, value COLLATE "C") AS place, '${field}' AS field, value, label, count
      FROM (SELECT *, ${label} AS label FROM (${plainCounts(resource, field, request, client)}) counted) labelled
      WHERE value <> '' AND (${begins('value')} OR ${begins('label')})`;
  });
  return `WITH counts AS (${counts.join(' UNION ALL ')})
    SELECT (SELECT count(*)::text FROM counts) AS count, ARRAY(
      SELECT concat_ws(' ', field, value, coalesce(label, 'null'), count) FROM counts
      WHERE place <= ${limit} OR value LIKE '%..%' AND ${limit} > 0 ORDER BY at, place
    ) AS objects`;
}

/** A query of the values of a field, and their counts. */
function plainCounts(
  resource: PlainResource,
  field: string,
  request: PlainRequest,
  client: string,
): string {
  const { table, facets } = resource;
  const [present, is] = facets?.presence?.[field] ?? [];
  if (present !== undefined) {
    return `SELECT (${is})::text AS value, count(*) AS count FROM ${table}
      WHERE ${plainWhere(resource, request, client, present)} GROUP BY 1`;
  }
  if (facets?.items?.includes(field)) {
    return `SELECT value, count(*) AS count FROM ${table}
      CROSS JOIN LATERAL (SELECT DISTINCT unnest("${field}")::text AS value) items
      WHERE ${plainWhere(resource, request, client, field)} GROUP BY value`;
  }
  if (field !== 'within' || !facets) {
    return `SELECT "${field}"::text AS value, count(*) AS count FROM ${table}
      WHERE ${plainWhere(resource, request, client, field)} GROUP BY "${field}"`;
  }
  const { column, nodes } = facets.tree;
  return `SELECT node AS value, count(*) AS count FROM ${table} JOIN (${nodes(client)}) nodes ON nodes.value = "${column}"
    WHERE ${plainWhere(resource, request, client, column)} GROUP BY node`;
}

/** A query of the limits of a field, or of its intervals; `undefined` if its values are counted. */
function plainRanges(
  resource: PlainResource,
  field: string,
  request: PlainRequest,
  client: string,
): string | undefined {
  const form = resource.facets?.ranges[field];
  if (!form) return undefined;
  const from = `FROM ${resource.table} WHERE ${plainWhere(resource, request, client, field)}`;
  if (request.bounds === undefined) {
    return `SELECT 1 AS place, ${form(`min("${field}")`)} || '..' || ${form(`max("${field}")`)} AS value, count("${field}")
      ${from} HAVING count("${field}") > 0`;
  }
  const bounds = request.bounds.split(',');
  const intervals = ['', ...bounds].map((lower, at) => {
    const upper = bounds[at] ?? '';
    const isAbove = lower === '' ? 'true' : `"${field}" >= ${literal(lower)}`;
    const isBelow = upper === '' ? 'true' : `"${field}" < ${literal(upper)}`;
    return `SELECT ${at} AS place, '${lower}..${upper}' AS value, count("${field}") ${from} AND ${isAbove} AND ${isBelow}`;
  });
  return intervals.join(' UNION ALL ');
}

/** Compares a page with plain SQL. Returns it. @param service sends the requests of the client */
export function comparePage(
  service: Pick<Service, 'get' | 'dataSource'>,
  resource: PlainResource,
  request: PlainRequest,
  client?: string,
): Promise<PlainPage> {
  return compare(service, resource.path, request, plainPage(resource, request, client));
}

/** Compares facet counts with plain SQL. @param same a request that means the same. Default: the request itself. */
export function compareFacets(
  service: Pick<Service, 'get' | 'dataSource'>,
  resource: PlainResource,
  fields: readonly string[],
  request: PlainRequest,
  { client, same = request }: { client?: string; same?: PlainRequest } = {},
): Promise<PlainPage> {
  const sql = plainFacets(resource, fields, same, client);
  return compare(service, `/facets${resource.path}`, request, sql);
}

async function compare(
  { get, dataSource }: Pick<Service, 'get' | 'dataSource'>,
  path: string,
  request: PlainRequest,
  sql: string,
): Promise<PlainPage> {
  const sent = `${path}?${new URLSearchParams(request).toString()}`;
  const [[wanted], { body }] = await Promise.all([dataSource.query<[PlainPage]>(sql), get(sent)]);
  // An error response is shown in place of the count.
  const { count, objects } = (body.response_data ?? { count: body, objects: [] }) as {
    count: string;
    objects: Record<string, unknown>[];
  };
  expect({ sent, count, objects: objects.map((each) => shownObject(each, request)) }).toEqual({
    sent,
    ...wanted,
  });
  return wanted;
}

/** The objects of a list, as SQL. Its other parameters are ignored. */
export function plainWhere(
  { filters, seen }: PlainResource,
  request: PlainRequest,
  client = '',
  except?: string,
): string {
  const kept = Object.entries(request).flatMap(([name, value]) => {
    const filter = filters[name];
    return filter && !filter.columns.some((column) => column === except)
      ? [filter.keeps(value, client)]
      : [];
  });
  return [seen?.(client) ?? 'true', ...kept].map((sql) => `(${sql})`).join(' AND ');
}

/**
 * Objects without a value come last. The identifier ends the order, in the direction of the last name. A name that is
 * repeated counts once.
 */
function orderOf(resource: PlainResource, { sort, q = '' }: PlainRequest): string {
  const { identifier, relevance, natural = {} } = resource;
  const keys = new Map<string, string>();
  for (const key of namesIn(sort)) {
    const name = bare(key);
    if (!keys.has(name)) keys.set(name, name === key ? 'ASC' : 'DESC');
  }
  if (!keys.has(identifier)) keys.set(identifier, [...keys.values()].at(-1) ?? 'ASC');
  return [...keys]
    .map(([name, direction]) => {
      if (name === 'relevance') return `${relevance?.(q)}`;
      const texts = natural[name];
      return `${texts ? naturalPlace(name, texts) : `"${name}"`} ${direction} NULLS LAST`;
    })
    .join(', ');
}

/** A text of a column with its place in the natural order, in SQL. */
function naturalPlace(column: string, texts: readonly string[]): string {
  const keys = Object.fromEntries(texts.map((text) => [text, naturalKey(text)]));
  return `(${literal(JSON.stringify(keys))}::jsonb ->> "${column}") COLLATE "C"`;
}

/** A request without some of its parameters. */
export function without(request: PlainRequest, ...names: readonly string[]): PlainRequest {
  return Object.fromEntries(Object.entries(request).filter(([name]) => !names.includes(name)));
}

function namesIn(text = ''): string[] {
  return text.split(',').filter((name) => name !== '');
}

/** A list at random. @param chosen its filters: `name`, whose value is drawn, or `name=value` */
export function randomList(
  random: Random,
  { sorts, filters, relevance, included = {} }: PlainResource,
  chosen: readonly string[],
): PlainRequest {
  const request: Record<string, string> = {};
  for (const each of chosen) {
    const [name = '', value] = each.split('=');
    request[name] = value ?? filters[name]?.sample(random) ?? '';
  }
  const names = Object.keys(request);
  const filtered = sorts.filter((sort) =>
    names.some((name) => filters[name]?.columns.includes(sort)),
  );
  const sort = Array.from({ length: random.pick([0, 0, 1, 1, 1, 2, 3]) }, () => {
    // In the order of an interval, a place may be known.
    const from = filtered.length > 0 && random.chance(0.7) ? filtered : sorts;
    return `${random.pick(['', '-'])}${random.pick(from)}`;
  });
  if (request.q !== undefined && relevance && random.chance(0.7)) sort.unshift('relevance');
  if (sort.length > 0) request.sort = sort.join();
  const related = Object.keys(included).filter(() => random.chance(0.2));
  if (related.length > 0) request.include = related.join();
  return request;
}

function bare(name: string): string {
  return name.replace(/^-/, '');
}

/** A text in SQL. */
export function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** Texts that commas separate, as a list in SQL. */
export function listed(texts: string): string {
  return (separatedValues(texts) ?? []).map(literal).join(', ');
}

/** The column has one of some values. */
export function equals(column: string, values: readonly string[]): PlainFilter {
  return {
    columns: [column],
    sample: (random) => some(random, values),
    keeps: (value) => `"${column}" IN (${listed(value)})`,
  };
}

/** The column has none of some values. It may have no value. */
export function differs(column: string, values: readonly string[]): PlainFilter {
  return {
    columns: [column],
    sample: (random) => some(random, values),
    keeps: (value) => `("${column}" IN (${listed(value)})) IS NOT TRUE`,
  };
}

/** The column has a value, or none. */
export function exists(column: string): PlainFilter {
  return {
    columns: [column],
    sample: (random) => random.pick(['true', 'false']),
    keeps: (value) => `("${column}" IS NOT NULL) = ${value}`,
  };
}

/** The array has an item, or none. */
export function hasItems(column: string): PlainFilter {
  return {
    ...exists(column),
    keeps: (value) => `(coalesce(cardinality("${column}"), 0) > 0) = ${value}`,
  };
}

/** The column compares with a value by an operator of SQL. */
export function compares(
  column: string,
  operator: string,
  sample: PlainFilter['sample'],
): PlainFilter {
  return {
    columns: [column],
    sample,
    keeps: (value) => `"${column}" ${operator} ${literal(value)}`,
  };
}

/** One to three different values, separated by commas. */
function some(random: Random, values: readonly string[]): string {
  const length = random.pick([1, 1, 1, 2, 3]);
  return [...new Set(Array.from({ length }, () => random.pick(values)))].map(separableValue).join();
}

/** Characters of scripts that are written without spaces. */
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}]/u;

/**
 * A text in SQL has all words of a search. Both are words of letters and digits, with spaces between them, or `*` in the
 * search. Their case and accents do not matter. One that ends in `*` is a beginning. Characters of `UNSPACED`, two or more
 * in each word, are anywhere.
 */
export function containsAll(text: string, search: string): string {
  const folded = search.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  return folded
    .split(/ |\*(?=\w)/)
    .map((word) => {
      if (UNSPACED.test(word)) return `${text} LIKE '%${word.replace('*', '')}%'`;
      return `' ' || lower(${text}) || ' ' LIKE '% ${word.endsWith('*') ? word.slice(0, -1) : `${word} `}%'`;
    })
    .join(' AND ');
}
