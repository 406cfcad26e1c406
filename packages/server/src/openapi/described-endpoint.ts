import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { type Endpoint, pathClassOf, pathParametersOf, returnedBy } from '../http/endpoints.js';
import {
  type DeclaredParameter,
  entityOf,
  isAllowed,
  isCredential,
  type ParameterSchema,
  type ParameterSettings,
  parametersOf,
  schemaOf,
} from '../http/parameters/declared-parameters.js';
import { ChangesQueryDto } from '../list/changes/changes-query.dto.js';
import { FacetsQueryDto } from '../list/facets/facets-query.dto.js';
import { ListQueryDto, ObjectQueryDto } from '../list/query/list-query.dto.js';
import { identifierType } from '../resource/formats.js';
import { classShape, type ObjectShape, schemaOfShape } from '../resource/json-shape.js';
import { meaningOf } from '../resource/declaration.js';
import { fieldsOf } from '../resource/resource.js';
import type { Json } from './schema.js';

/** An endpoint with its entity, parameters and path template. */
export interface DescribedEndpoint extends Endpoint {
  readonly metadata: EntityMetadata | undefined;
  /** The fields of its objects that the client sees. */
  readonly columns: readonly ColumnMetadata[];
  /** `other`: neither a list nor one object by its identifier, such as the path of a handler of its own. */
  readonly kind: 'list' | 'facets' | 'object' | 'changes' | 'other';
  /** The query parameters without the credentials, which are security schemes. */
  readonly parameters: readonly DescribedParameter[];
  /** The parameters in its path. */
  readonly pathParameters: readonly PathParameter[];
  /** The objects that its handler returns, by `@Returns`; absent without. */
  readonly returned?: ObjectShape;
  /** What its handler does, by `@Meaning`; absent without. */
  readonly meaning?: string;
  /** The path template of OpenAPI, such as `/products/{productID}`. */
  readonly template: string;
}

/** A parameter with its schema under the settings of the service. */
export interface DescribedParameter extends DeclaredParameter {
  readonly name: string;
  readonly schema: ParameterSchema;
}

/** A parameter in a path. */
export interface PathParameter {
  readonly name: string;
  readonly meaning: string;
  readonly schema: Json;
  /** A value that was declared, as text. */
  readonly example?: string;
}

export function described(
  endpoint: Endpoint,
  dataSource: DataSource,
  settings: ParameterSettings,
): DescribedEndpoint {
  const entity = entityOf(endpoint.query);
  const { rights } = settings;
  const metadata = entity && dataSource.getMetadata(entity);
  const pathParameters = describedPath(endpoint, metadata);
  const returned = returnedBy(endpoint);
  const kind = kindOf(endpoint, pathParameters.length > 0);
  return {
    ...endpoint,
    metadata,
    kind,
    returned: returned && classShape(returned.type).shape,
    meaning:
      kind === 'facets' ? undefined : meaningOf(endpoint.controller, endpoint.method)?.meaning,
    columns: metadata
      ? fieldsOf(metadata).filter(({ propertyName }) => rights.sees(entity, propertyName))
      : [],
    parameters: [...parametersOf(endpoint.query)]
      .filter(([name]) => !isCredential(name) && isAllowed(endpoint.query, name, settings))
      .map(([name, parameter]) => ({
        ...parameter,
        name,
        schema: schemaOf(parameter, settings),
      })),
    pathParameters,
    template: endpoint.path.replace(/:(\w+)/g, '{$1}'),
  };
}

/** As the class of the handler's `@Param()` declares them, or the columns of the same names. */
function describedPath(endpoint: Endpoint, metadata: EntityMetadata | undefined): PathParameter[] {
  const type = pathClassOf(endpoint);
  const properties = type && classShape(type).shape?.properties;
  return pathParametersOf(endpoint).map((name) => {
    const column = metadata?.findColumnWithPropertyName(name);
    const declaring = type ?? (metadata?.target as object | undefined);
    const { meaning, example } = (declaring && meaningOf(declaring, name)) ?? {};
    const { shape } = properties?.get(name) ?? {};
    return {
      name,
      meaning: meaning ?? (column ? 'Identifies the object.' : 'A part of the path.'),
      schema: shape ? schemaOfShape(shape) : { ...identifierType(column?.type).schema },
      example,
    };
  });
}

function kindOf({ query }: Endpoint, isIdentified: boolean): DescribedEndpoint['kind'] {
  if (query === ChangesQueryDto) return 'changes';
  const prototype = query.prototype as object;
  if (prototype instanceof ListQueryDto) return 'list';
  if (prototype instanceof FacetsQueryDto) return 'facets';
  return prototype instanceof ObjectQueryDto && isIdentified ? 'object' : 'other';
}

/** The fixed parts of a path, such as `['facets', 'products']`. */
export function fixedParts({ path }: Endpoint): string[] {
  return path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
}

/** The resource that a path is about, such as `products` for `/facets/products`. */
export function resourceOf(endpoint: Endpoint): string {
  return fixedParts(endpoint).at(-1) ?? '';
}

/** What a parameter of an endpoint may name; nothing if it has no such parameter. */
export function namesIn(
  { parameters }: DescribedEndpoint,
  parameter: 'facets' | 'include' | 'sort',
): readonly string[] {
  return parameters.find(({ name }) => name === parameter)?.schema.items?.enum ?? [];
}

/** The alternatives for credentials: in headers or in the query, not in both. A public client needs no token. */
export const CREDENTIALS = [
  { 'X-Client-ID': [], Authorization: [] },
  { clientID: [], access_token: [] },
  { clientID: [] },
  { 'X-Client-ID': [] },
];

/** The credentials, for `components.securitySchemes`. */
export const SECURITY_SCHEMES = {
  'X-Client-ID': apiKey(
    'header',
    'X-Client-ID',
    'Who asks, beside the header Authorization; a public client without a token.',
  ),
  Authorization: {
    type: 'http',
    scheme: 'bearer',
    description: 'The access token of the client, an opaque text: RFC 6750.',
  },
  clientID: apiKey(
    'query',
    'clientID',
    'Who asks, beside the parameter access_token; a public client without a token.',
  ),
  access_token: apiKey(
    'query',
    'access_token',
    'The access token of the client. Query strings end up in logs: prefer the headers.',
  ),
};

function apiKey(where: 'header' | 'query', name: string, description: string): Json {
  return { type: 'apiKey', in: where, name, description };
}
