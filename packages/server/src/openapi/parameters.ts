import { separableValue } from '../http/parameters/declared-parameters.js';
import { FILTER_FORMS, readingsOf } from '../resource/filter-forms.js';
import { meaningOf } from '../resource/declaration.js';
import type { DescribedEndpoint, DescribedParameter, PathParameter } from './described-endpoint.js';
import { exampleOf, type Json } from './schema.js';

/** The Parameter Objects of an endpoint: those of its path, then those of its query. */
export function parameterObjects(endpoint: DescribedEndpoint): Json[] {
  return [
    ...endpoint.pathParameters.map(inPath),
    ...endpoint.parameters.map((parameter) => inQuery(endpoint, parameter)),
  ];
}

function inPath({ name, meaning, schema, example }: PathParameter): Json {
  return {
    name,
    in: 'path',
    required: true,
    description: meaning,
    schema,
    ...(example !== undefined && { example: exampleOf(schema, example) }),
  };
}

function inQuery(endpoint: DescribedEndpoint, parameter: DescribedParameter): Json {
  const { name, meaning, schema } = parameter;
  const { default: value, ...withoutDefault } = schema;
  const isArray = schema.type === 'array';
  const example = exampleText(endpoint, parameter);
  const preset = Array.isArray(value) ? ` Default: \`${value.join()}\`.` : '';
  return {
    name,
    in: 'query',
    // Generators of validators misread the default of an array, so it is in the description.
    description: meaning + preset,
    schema: {
      ...(isArray ? withoutDefault : schema),
      // In the schema: a page that sends requests would send the example of a parameter by default.
      ...(example !== undefined && { examples: [exampleOf(schema, example)] }),
    },
    ...(isArray && { style: 'form', explode: false }),
  };
}

/**
 * A valid value of a query parameter, as text; `undefined` if all that is known is that it is some text. The example of the field that it filters by is more specific than that of its type.
 */
export function exampleText(
  { metadata }: DescribedEndpoint,
  { name, schema, example }: DescribedParameter,
): string | undefined {
  // That of the declaration has names that are not for every client; that of `sort` has every name, for `verify`.
  const names = schema.items?.enum;
  if (names && !names.some((each) => each === example)) return names.at(-1);
  // Any other number would be taken for a recommendation.
  if (typeof schema.default === 'number') return String(schema.default);
  const identifier = metadata?.primaryColumns[0]?.propertyName ?? '';
  const fields = name === 'after' ? [identifier] : valueFields(name);
  const own = fields
    .map((field) => {
      const value = metadata && meaningOf(metadata.target as object, field)?.example;
      const isOneOfSeveral =
        schema.type === 'array' && !metadata?.findColumnWithPropertyName(field)?.isArray;
      return isOneOfSeveral && value !== undefined ? separableValue(value) : value;
    })
    .find((each) => each !== undefined);
  return own ?? example;
}

/** The fields whose values a filter of this name may take. */
function valueFields(filter: string): string[] {
  return readingsOf(filter).flatMap(({ end, column }) =>
    ['values', 'items'].includes(FILTER_FORMS[end].takes) ? [column] : [],
  );
}

/** A reference to `If-None-Match` in `components.parameters`. */
export const IF_NONE_MATCH_REFERENCE = { $ref: '#/components/parameters/If-None-Match' };

/** `Prefer`, in `components.parameters`. */
export const PREFER = {
  name: 'Prefer',
  in: 'header',
  description:
    '`wait=<seconds>`, up to 60: a response that would be 304, or a list of changes without any, waits until something changes (RFC 7240).',
  schema: { type: 'string', maxLength: 8192, pattern: '^[^\\s].*$', examples: ['wait=50'] },
};

/** `If-None-Match`, in `components.parameters`. */
export const IF_NONE_MATCH = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of what the client has: 304 if it is still the same.',
  schema: {
    type: 'string',
    maxLength: 8192,
    pattern: '^(\\*|(W/)?".*")$',
    examples: ['W/"1042-Zk3vY1x0aB7q"'],
  },
};
