import { type CallOptions, Resource, type Transport } from '@catalogue/client';
import type { Tool } from '@modelcontextprotocol/server';
import { type Arguments, sentArguments } from './arguments.js';
import { briefFields, definitionOf, limitOf, withDefaults } from './definition.js';
import {
  filtersOf,
  type OpenApiDocument,
  type Operation,
  parametersOf,
  type Paths,
  resourcesOf,
} from './document.js';

/** A tool as a model sees it, and what it does. */
export interface CatalogueTool {
  readonly definition: Tool;
  /** @throws CatalogueError, CatalogueConnectionError, or TypeError for a value that cannot be sent */
  readonly call: (given: Arguments, options: CallOptions) => Promise<Record<string, unknown>>;
}

/** What the description of a tool says beside the summary of its path. */
const SEARCH =
  'The objects that match all filters; total_count is how many match. For the next page send ' +
  'pagination.cursor as after, with everything else as it was.';
const GET = 'All its fields, or those named.';
const COUNT =
  'How many of the matching objects have which value of each field, the most frequent first: the values ' +
  'that filters take. Of a field that refers to other objects, value is an identifier and label a name: ' +
  'find an identifier with facetStarts, by the beginning of the name. total_count is how many objects ' +
  'match, and value_count how many values there are. Filters on a field do not narrow the counts of ' +
  'that field.';

/** The tools for the resources that the OpenAPI document of a service describes, by name. */
export function toolsOf(
  document: OpenApiDocument,
  transport: Transport,
): ReadonlyMap<string, CatalogueTool> {
  const resources = resourcesOf(document);
  const tools = resources.flatMap((each) => {
    const resource = new Resource(transport, each.name, each.identifier);
    return [
      searchTool(each, resource, resources),
      getTool(each, resource),
      ...(each.facets ? [countTool(each, each.facets, resource)] : []),
    ];
  });
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

function searchTool(paths: Paths, resource: Resource, all: readonly Paths[]): CatalogueTool {
  const { name, list } = paths;
  const parameters = parametersOf(list);
  const brief = { limit: limitOf(list), fields: briefFields(paths) };
  const count = paths.facets
    ? ` Values must be exact, and identifiers are not names: find them by count_${name}.`
    : '';
  return {
    definition: definitionOf(`search_${name}`, list, SEARCH + count, withDefaults(list, brief)),
    async call(given, options) {
      const sent = sentArguments(given, parameters);
      const { objects, count, links } = await resource.list({ ...brief, ...sent }, options);
      // A page that begins behind an object has the next one in `next`, and no `after`.
      const next = new URL(links.after ?? links.next ?? 'none:').searchParams.get('after');
      const cursor = next === null ? {} : { cursor: next };
      const hint = count > 0 ? undefined : hintFor(Object.keys(sent), paths, all);
      return {
        [name]: objects,
        pagination: { total_count: count, has_next_page: next !== null, ...cursor },
        ...(hint !== undefined && { hint }),
      };
    },
  };
}

function getTool({ get, identifier }: Paths, resource: Resource): CatalogueTool {
  const name = snakeCase(get.operationId);
  const parameters = parametersOf(get);
  return {
    definition: definitionOf(name, get, GET),
    async call(given, options) {
      const { [identifier]: value, ...query } = sentArguments(given, parameters);
      if (value === undefined) throw new TypeError(`The parameter ${identifier} is required`);
      return { [name.replace('get_', '')]: await resource.get(value as string, query, options) };
    },
  };
}

function countTool({ name, list }: Paths, facets: Operation, resource: Resource): CatalogueTool {
  const parameters = parametersOf(facets);
  const brief = { limit: limitOf(facets) };
  const filters = new Set(filtersOf(list).map((each) => each.name));
  return {
    definition: definitionOf(`count_${name}`, facets, COUNT, withDefaults(facets, brief)),
    async call(given, options) {
      const sent = sentArguments(given, parameters);
      const filtered = Object.entries(sent).filter(([each]) => filters.has(each));
      const [counted, matching] = await Promise.all([
        resource.facets({ ...brief, ...sent }, options),
        resource.list({ ...Object.fromEntries(filtered), limit: 0 }, options),
      ]);
      return {
        facets: counted.objects,
        value_count: counted.count,
        total_count: matching.count,
      };
    },
  };
}

/** `get_product` for `getProduct`. */
function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

/** What a model does next where nothing matches its filters; nothing if it sent none. */
function hintFor(
  sent: readonly string[],
  { name, identifier, list, facets }: Paths,
  resources: readonly Paths[],
): string | undefined {
  const filters = filtersOf(list).filter(({ name }) => sent.includes(name));
  if (filters.length === 0) return undefined;
  const isFiltered = (field: string): boolean => filters.some((each) => isOn(each.name, field));
  const names = facets && parametersOf(facets).find((each) => each.name === 'facets');
  // Whether there is a value is no value to find.
  const counted = (names?.schema.items?.enum ?? []).filter(
    (field) => isFiltered(field) && !field.endsWith('Exists'),
  );
  const referred = resources.filter(
    (each) => each.identifier !== identifier && isFiltered(each.identifier),
  );
  const lookups = [
    ...(counted.length > 0 ? [`count_${name} with facets ${JSON.stringify(counted)}`] : []),
    ...referred.map((each) => `search_${each.name}`),
  ];
  const found = `No ${name} match ${filters.map((each) => each.name).join(', ')}.`;
  return lookups.length === 0
    ? `${found} Leave out a filter, or shorten its value.`
    : `${found} Values must be exact, and identifiers are not names: find them by ${lookups.join(' or ')}.`;
}

/** Whether the name of a filter is that of a field, or begins with it: `brandIDNot`. */
function isOn(filter: string, field: string): boolean {
  return filter.startsWith(field) && /^([A-Z]|$)/.test(filter.slice(field.length));
}
