import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { separatedValues } from '../http/parameters/declared-parameters.js';
import { valuesOf } from '../resource/column-values.js';
import { externalTableOf } from '../resource/resource.js';
import { meaningOf } from '../resource/declaration.js';
import { type Related, relatedOf } from '../resource/relations.js';

/** A schema, a parameter, a response or whatever else the document is made of. */
export type Json = Readonly<Record<string, unknown>>;

/** An object of exactly these properties, which it must have all unless said. */
export function objectOf(properties: Json, required = Object.keys(properties)): Json {
  return { type: 'object', properties, required, additionalProperties: false };
}

/** The content of a response in JSON. */
export function json(schema: Json, example?: unknown): Json {
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}

export function referenceTo(schema: string): Json {
  return { $ref: `#/components/schemas/${schema}` };
}

/** The `result` of every response without an error. An enumeration of one text, since generators misread `const`. */
export const SUCCESS = objectOf({
  status: { type: 'string', enum: ['OK'] },
  errcode: { type: 'string', enum: ['0'] },
  msg: { type: 'string', maxLength: 0 },
});

/** A number of objects, as text. */
const COUNT = { type: 'string', pattern: '^[0-9]+$', maxLength: 20 };

/** @param count what `count` counts */
export function pageOf(objects: string, count: string, maximum: number): Json {
  return envelopeOf(count, { items: referenceTo(objects), maxItems: maximum });
}

/** Schema of the envelope of a custom handler. */
export function anyPage(object: Json = { type: 'object' }): Json {
  return envelopeOf('All that there are.', { items: object });
}

function envelopeOf(count: string, objects: Json): Json {
  return objectOf({
    result: referenceTo('Success'),
    response_data: objectOf({
      count: { description: count, ...COUNT },
      objects: { type: 'array', ...objects },
    }),
  });
}

/** One of the facet counts of some fields. */
export function facetCount(fields: readonly string[]): Json {
  return objectOf({
    field: { description: 'The name of the field.', type: 'string', enum: fields },
    value: {
      description:
        'The value, as text; of a number or a time the least and the greatest one, or an interval, such as `10..50`.',
      type: 'string',
    },
    label: {
      description:
        'The `name` of the object that the value refers to; null if there is none, or none that the client sees.',
      type: ['string', 'null'],
    },
    count: { description: 'The number of objects that have it.', ...COUNT },
  });
}

/**
 * One of a resource's objects; with `fields` it has fewer properties.
 *
 * @param columns its fields
 * @param included the names of the related objects that it may have
 */
export function resourceSchema(
  metadata: EntityMetadata,
  columns: readonly ColumnMetadata[],
  included: readonly string[] = [],
): Json {
  const properties = columns.map((column) => {
    const { meaning } = meaningOf(metadata.target as object, column.propertyName) ?? {};
    const example = ownExample(column, metadata);
    const { type, enum: values, ...rest } = schemaOf(column);
    // TypeORM has no option that says whether the query of a computed field always finds a value.
    const isNullable = column.isNullable || column.isVirtualProperty;
    const schema = {
      ...(meaning !== undefined && { description: meaning }),
      ...(type !== undefined && { type: isNullable ? [type, 'null'].flat() : type }),
      ...(values && { enum: isNullable ? [...values, null] : values }),
      ...rest,
      ...(example !== undefined && { examples: [example] }),
    };
    return [column.propertyName, schema];
  });
  const related = relatedOf(metadata)
    .filter(({ name }) => included.includes(name))
    .flatMap(relatedSchemas);
  return {
    ...objectOf(Object.fromEntries([...properties, ...related]) as Json, []),
    minProperties: 1,
    description: `Has every property, or exactly those that \`fields\` names${
      related.length === 0 ? '' : '; a related object if `include` or `fields` names it'
    }.`,
  };
}

/** The schema of a field. Nothing keeps an external table from what JSON has no form for. */
function schemaOf(column: ColumnMetadata): ReturnType<ReturnType<typeof valuesOf>['schema']> {
  const { schema, beyond } = valuesOf(column);
  const own = schema(column);
  if (!beyond || !externalTableOf(column.entityMetadata)) return own;
  return { ...beyond.schema, examples: own.examples };
}

/** The properties of a related object, or of several and their number. */
function relatedSchemas({ name, column, metadata, children }: Related): [string, Json][] {
  const object = referenceTo(metadata.name);
  if (!children) {
    const description = `The object that \`${column.propertyName}\` refers to; null if there is none.`;
    return [[name, { description, oneOf: [object, { type: 'null' }] }]];
  }
  const { limit } = children;
  const description = `Objects that refer to this one, at most ${limit}.`;
  return [
    [name, { description, type: 'array', items: object, maxItems: limit }],
    [`${name}Count`, { description: `The number of all \`${name}\`.`, ...COUNT }],
  ];
}

/** The example that the entity gives of a field; `undefined` if it gives none. */
function ownExample(column: ColumnMetadata, { target }: EntityMetadata): unknown {
  const { example } = meaningOf(target as object, column.propertyName) ?? {};
  if (example === undefined) return undefined;
  return column.type === 'jsonb'
    ? JSON.parse(example)
    : exampleOf(valuesOf(column).schema(column), example);
}

/** Converts a text to the type of a schema. */
export function exampleOf(
  { type, items }: { readonly type?: unknown; readonly items?: unknown },
  text: string,
): unknown {
  switch (type) {
    case 'integer':
    case 'number':
      return Number(text);
    case 'boolean':
      return text === 'true';
    case 'array':
      return (separatedValues(text) ?? [text]).map((each) =>
        exampleOf((items ?? {}) as Json, each),
      );
    default:
      return text;
  }
}

/** An object of a resource, made of the examples of some fields. Without an example, a field is null if it may be. */
export function exampleObject(
  metadata: EntityMetadata,
  columns: readonly ColumnMetadata[],
): Record<string, unknown> {
  return Object.fromEntries(
    columns.map((column) => [
      column.propertyName,
      ownExample(column, metadata) ?? exampleOfType(column),
    ]),
  );
}

function exampleOfType(column: ColumnMetadata): unknown {
  const { type, enum: values, examples } = valuesOf(column).schema(column);
  const [example] = (examples as unknown[] | undefined) ?? values ?? [];
  if (example !== undefined) return example;
  if (column.isNullable) return null;
  return type === 'boolean' ? true : type === 'string' ? 'a' : {};
}
