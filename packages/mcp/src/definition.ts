import type { JSONObject, Tool } from '@modelcontextprotocol/server';
import { type Operation, type Parameter, parametersOf, type ParameterSchema } from './document.js';

/** The definition of a tool that takes the parameters of a path. */
export function definitionOf(
  name: string,
  operation: Operation,
  description: string,
  parameters = parametersOf(operation),
): Tool {
  return {
    name,
    title: operation.summary,
    description: `${operation.summary}. ${description}`,
    inputSchema: {
      type: 'object',
      properties: Object.fromEntries(parameters.map((each) => [each.name, propertyOf(each)])),
      required: parameters.filter(({ required }) => required).map((each) => each.name),
    },
    annotations: { readOnlyHint: true, openWorldHint: false },
  };
}

function propertyOf({ description, schema, example }: Parameter): JSONObject {
  const [such = example] = schema.examples ?? [];
  const isNamed = schema.enum ?? schema.items?.enum ?? schema.format === 'date-time';
  const isText = schema.type === 'string' || schema.items?.type === 'string';
  const words = such === undefined || isNamed || !isText ? '' : ` Such as ${JSON.stringify(such)}.`;
  return { description: description + words, ...typeOf(schema) };
}

/**
 * What every host takes of a schema. Some hosts refuse a tool with a keyword that they do not know, such as
 * `additionalProperties`, `examples` or a `format` of their own: Gemini has a subset of OpenAPI 3.0. What a value must be
 * beside its type, the errors of the service say.
 */
function typeOf({ type, format, enum: values, items }: ParameterSchema): JSONObject {
  return {
    type,
    ...(format === 'date-time' && { format }),
    ...(values && { enum: [...values] }),
    ...(items && { items: typeOf(items) }),
  };
}
