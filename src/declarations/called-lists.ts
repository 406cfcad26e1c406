import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { type Endpoint, pathParametersOf } from '../http/endpoints.js';
import {
  type DeclaredParameter,
  type ParameterSettings,
  parametersOf,
  readParameters,
  schemaOf,
} from '../http/parameters/declared-parameters.js';
import { sampleOf } from '../resource/column-values.js';
import type { ComparedValue } from '../resource/comparable.js';
import { columnConditions, comparedValues } from '../list/condition/condition.js';
import { ListQueryDto } from '../list/query/list-query.dto.js';
import { Listing } from '../list/listing/listing.js';

/** What the handler of a list returns for a value of a parameter that not every list has. */
export interface CalledList {
  readonly endpoint: Endpoint;
  readonly parameter: string;
  readonly declared: DeclaredParameter;
  readonly result?: unknown;
  readonly error?: Error;
}

/** The texts with which a parameter is tried. */
type Samples = (declared: DeclaredParameter, settings: ParameterSettings) => readonly string[];

/** The sample of a parameter. */
export const example: Samples = (declared, settings) => [sample(declared, settings)];

/** The sample of a parameter, its greatest and its least value, and all values of an enumeration or a boolean. */
export const extremes: Samples = (declared, settings) => {
  const schema = schemaOf(declared, settings);
  const { minimum, maximum, format, type, enum: values = [] } = schema.items ?? schema;
  const bounds = format === 'int64' && type === 'string' ? [INT64_MAXIMUM] : [minimum, maximum];
  if (type === 'boolean') return ['true', 'false'];
  const texts = [...bounds.filter((bound) => bound !== undefined).map(String), ...values];
  return [sample(declared, settings), ...texts];
};

/** The example of a parameter that is valid now, or any texts if it has none. */
function sample(declared: DeclaredParameter, settings: ParameterSettings): string {
  const { example } = declared;
  if (example !== undefined) return typeof example === 'function' ? example() : example;
  return schemaOf(declared, settings).type === 'array' ? 'a,b' : 'a';
}

const INT64_MAXIMUM = '9223372036854775807';

/**
 * Calls the handlers of lists once for each sample of each parameter that not every list has, with the samples of
 * those that are required. A parameter of the path is a value of the type of the column that it is compared with,
 * and `1` if it is compared with none.
 */
export async function* callLists(
  endpoints: readonly Endpoint[],
  settings: ParameterSettings,
  samples: Samples,
): AsyncGenerator<CalledList> {
  for (const endpoint of endpoints) {
    const { query } = endpoint;
    if (!(query.prototype instanceof ListQueryDto)) continue;
    const handler = await endpoint.handlerFor();
    const params = await pathSamples(endpoint);
    const required = [...parametersOf(query)]
      .filter(([, { isRequired }]) => isRequired)
      .map(([name, declared]) => [name, sample(declared, settings)] as const);
    const ofEveryList = parametersOf(ListQueryDto);
    for (const [parameter, declared] of parametersOf(query)) {
      if (parameter === 'fields' || ofEveryList.has(parameter)) continue;
      for (const text of samples(declared, settings)) {
        const values = readParameters(query, [...required, [parameter, text]], settings);
        try {
          const result: unknown = await handler({ query: values, params });
          yield { endpoint, parameter, declared, result };
        } catch (error) {
          yield { endpoint, parameter, declared, error: error as Error };
        }
      }
    }
  }
}

/** A value for each parameter in the path of a list. */
async function pathSamples(endpoint: Endpoint): Promise<Record<string, string>> {
  const names = pathParametersOf(endpoint);
  const params = Object.fromEntries(names.map((name) => [name, '1']));
  const handler = await endpoint.handlerFor();
  for (const name of names) {
    // A text that no handler compares with anything of its own.
    const marker = `the parameter ${name} of a path`;
    try {
      const query = new endpoint.query();
      const list: unknown = await handler({ query, params: { ...params, [name]: marker } });
      if (!(list instanceof Listing)) continue;
      const compared = comparisonsIn(list).find(({ value }) => value === marker);
      if (compared) params[name] = sampleOf(compared.column) ?? '1';
    } catch {
      // It refuses the text, or needs a parameter.
    }
  }
  return params;
}

/** The comparisons in the filters of a list. SQL, identifier queries and values within JSON are left out. */
export function comparisonsIn({
  repository,
  filters,
}: Listing): (ComparedValue & { readonly column: ColumnMetadata })[] {
  return columnConditions(filters).flatMap((condition) => {
    const column = repository.metadata.findColumnWithPropertyName(condition.column);
    return column ? comparedValues(condition).map((value) => ({ column, ...value })) : [];
  });
}
