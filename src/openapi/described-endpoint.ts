import { GUARDS_METADATA } from '@nestjs/common/constants.js';
import type { DataSource, EntityMetadata } from 'typeorm';
import { type Endpoint, pathParametersOf } from '../http/endpoints.js';
import { isCredential } from '../http/parameters/credentials-query.dto.js';
import {
  type DeclaredParameter,
  type ParameterSchema,
  type ParameterSettings,
  parametersOf,
  schemaOf,
} from '../http/parameters/declared-parameters.js';
import { FacetsQueryDto } from '../list/facets/facets-query.dto.js';
import { ListQueryDto, ObjectQueryDto } from '../list/query/list-query.dto.js';
import { entityOf } from '../list/query/query-of.js';

/** An endpoint with its entity, parameters and path template. */
export interface DescribedEndpoint extends Endpoint {
  readonly metadata: EntityMetadata | undefined;
  /** `other`: neither a list nor one object by its identifier, such as the path of a handler of its own. */
  readonly kind: 'list' | 'facets' | 'object' | 'other';
  /** The query parameters without the credentials, which are security schemes. */
  readonly parameters: readonly DescribedParameter[];
  /** The names of the parameters in its path. */
  readonly pathParameters: readonly string[];
  /** Whether a guard of a controller or a handler may refuse a request. */
  readonly isGuarded: boolean;
  /** The path template of OpenAPI, such as `/products/{productID}`. */
  readonly template: string;
}

/** A parameter with its schema under the settings of the service. */
export interface DescribedParameter extends DeclaredParameter {
  readonly name: string;
  readonly schema: ParameterSchema;
}

/** @param endpoints all of the service */
export function described(
  endpoint: Endpoint,
  endpoints: readonly Endpoint[],
  dataSource: DataSource,
  settings: ParameterSettings,
): DescribedEndpoint {
  const entity = entityOf(endpoint.query);
  const pathParameters = pathParametersOf(endpoint);
  return {
    ...endpoint,
    metadata: entity && dataSource.getMetadata(entity),
    kind: kindOf(endpoint, pathParameters.length > 0),
    parameters: [...parametersOf(endpoint.query)]
      .filter(([name]) => !isCredential(name))
      .map(([name, parameter]) => ({ ...parameter, name, schema: schemaOf(parameter, settings) })),
    pathParameters,
    isGuarded: isGuarded(endpoint, endpoints),
    template: endpoint.path.replace(/:(\w+)/g, '{$1}'),
  };
}

function kindOf(
  { query: { prototype } }: Endpoint,
  isIdentified: boolean,
): DescribedEndpoint['kind'] {
  if (prototype instanceof ListQueryDto) return 'list';
  if (prototype instanceof FacetsQueryDto) return 'facets';
  return prototype instanceof ObjectQueryDto && isIdentified ? 'object' : 'other';
}

/** Deletions and facets of a resource have the guards of its list. */
function isGuarded(endpoint: Endpoint, endpoints: readonly Endpoint[]): boolean {
  const [parent] = fixedParts(endpoint);
  const list =
    parent === 'deletions' || parent === 'facets'
      ? endpoints.find(({ path }) => path === `/${resourceOf(endpoint)}`)
      : endpoint;
  if (!list) return false;
  const handler = (list.controller.prototype as Record<string, object>)[list.method];
  return [list.controller, handler ?? {}].some((each) =>
    Reflect.hasMetadata(GUARDS_METADATA, each),
  );
}

/** The fixed parts of a path, such as `['deletions', 'products']`. */
export function fixedParts({ path }: Endpoint): string[] {
  return path.split('/').filter((part) => part !== '' && !part.startsWith(':'));
}

/** The resource that a path is about, such as `products` for `/deletions/products`. */
export function resourceOf(endpoint: Endpoint): string {
  return fixedParts(endpoint).at(-1) ?? '';
}

/** The fields whose values an endpoint counts; none for a list or an object. */
export function countedFields({ parameters }: DescribedEndpoint): readonly string[] {
  return parameters.find(({ name }) => name === 'facets')?.schema.items?.enum ?? [];
}
