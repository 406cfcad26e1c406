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
import { ListQueryDto, ObjectQueryDto } from '../list/list-query.dto.js';
import { entityOf } from '../list/query-of.js';

/** An endpoint with its entity, parameters and path template. */
export interface DescribedEndpoint extends Endpoint {
  readonly metadata: EntityMetadata | undefined;
  /** `other`: neither a list nor one object by its identifier, such as the path of a handler of its own. */
  readonly kind: 'list' | 'facets' | 'object' | 'other';
  /** The query parameters without the credentials, which are security schemes. */
  readonly parameters: readonly DescribedParameter[];
  /** The names of the parameters in its path. */
  readonly pathParameters: readonly string[];
  /** The path template of OpenAPI, such as `/products/{productID}`. */
  readonly template: string;
}

/** A parameter with its schema under the settings of the service. */
export interface DescribedParameter extends DeclaredParameter {
  readonly name: string;
  readonly schema: ParameterSchema;
}

export function described(
  endpoint: Endpoint,
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
