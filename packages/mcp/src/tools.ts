import type { CallOptions } from '@catalogue/client';
import { type Transport, UntypedResource } from '@catalogue/client/untyped';
import type { Tool } from '@modelcontextprotocol/server';
import type { OpenApiDocument, Operation, Parameter } from './document.js';

/** What a model sends to a tool. */
export type Arguments = Readonly<Record<string, unknown>>;

/** A tool as a model sees it, and what it does. */
export interface CatalogueTool {
  readonly definition: Tool;
  /** @throws CatalogueError, CatalogueConnectionError, or TypeError for a value that cannot be sent */
  readonly call: (query: Arguments, options: CallOptions) => Promise<Record<string, unknown>>;
}

/** What the description of a tool says beside the summary of its path. */
const SEARCH =
  'The objects that match all filters, and how many there are. Name a few fields to keep the result ' +
  'small. For the next page send pagination.cursor as after, with everything else as it was.';
const GET = 'All its fields, or those named.';
const COUNT =
  'How many of the matching objects have which value of each field, the most frequent first. Shows ' +
  'what there is to filter by.';

/** The tools for the resources that the OpenAPI document of a service describes, by name. */
export function toolsOf(
  { paths }: OpenApiDocument,
  transport: Transport,
): ReadonlyMap<string, CatalogueTool> {
  const tools = Object.entries(paths).flatMap(([path, { get }]) => {
    const [, name = '', identifier = ''] = /^\/([^/]+)\/\{([^/]+)\}$/.exec(path) ?? [];
    const list = paths[`/${name}`]?.get;
    // A path of another form than a list is a handler of somebody's own.
    if (!list || !parametersOf(list).some((parameter) => parameter.name === 'limit')) return [];
    const facets = paths[`/facets/${name}`]?.get;
    const resource = new UntypedResource(transport, name, identifier);
    return [
      searchTool(list, resource, name),
      getTool(get, resource, identifier),
      ...(facets ? [countTool(facets, resource, name)] : []),
    ];
  });
  return new Map(tools.map((tool) => [tool.definition.name, tool]));
}

function searchTool(operation: Operation, resource: UntypedResource, name: string): CatalogueTool {
  return {
    definition: definitionOf(`search_${name}`, operation, SEARCH),
    async call(query, options) {
      const { objects, count, links } = await resource.list(query, options);
      // A page that begins behind an object has the next one in `next`, and no `after`.
      const next = new URL(links.after ?? links.next ?? 'none:').searchParams.get('after');
      const cursor = next === null ? {} : { cursor: next };
      return {
        [name]: objects,
        pagination: { total_count: count, has_next_page: next !== null, ...cursor },
      };
    },
  };
}

function getTool(
  operation: Operation,
  resource: UntypedResource,
  identifier: string,
): CatalogueTool {
  const name = snakeCase(operation.operationId);
  return {
    definition: definitionOf(name, operation, GET),
    async call({ [identifier]: value, ...query }, options) {
      // Without it, the path would be that of the list.
      if (typeof value !== 'string' || value === '') {
        throw new TypeError(`The parameter ${identifier} is required`);
      }
      // They would lead to another path, and take the credentials there.
      if (/^\.\.?$/.test(value)) throw new TypeError(`${identifier}: ${value} cannot be in a URL`);
      return { [name.replace('get_', '')]: await resource.get(value, query, options) };
    },
  };
}

function countTool(operation: Operation, resource: UntypedResource, name: string): CatalogueTool {
  return {
    definition: definitionOf(`count_${name}`, operation, COUNT),
    async call(query, options) {
      const { objects, count } = await resource.facets(query, options);
      return { facets: objects, total_count: count };
    },
  };
}

function definitionOf(name: string, operation: Operation, description: string): Tool {
  const parameters = parametersOf(operation);
  return {
    name,
    title: operation.summary,
    description: `${operation.summary}. ${description}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(
        parameters.map((each) => [each.name, { description: each.description, ...each.schema }]),
      ),
      required: parameters.filter(({ required }) => required).map((each) => each.name),
      additionalProperties: false,
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

/** The parameters that a model may send: not the headers, such as the credentials. */
function parametersOf({ parameters }: Operation): Parameter[] {
  return parameters.filter(
    (each): each is Parameter => 'in' in each && ['path', 'query'].includes(each.in),
  );
}

/** `get_product` for `getProduct`. */
function snakeCase(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}
