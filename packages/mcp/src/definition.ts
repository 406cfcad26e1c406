import type { JSONObject, Tool } from '@modelcontextprotocol/server';
import {
  type ObjectSchema,
  type Operation,
  type Parameter,
  type ParameterSchema,
  parametersOf,
  type Paths,
  type Reference,
} from './document.js';

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

/** Objects of a page, and values of a field, unless `limit` is given: a result is to leave room in the context of a model. */
const LIMIT = 10;

/** Characters of a text that is shown without being asked for: of a name, but not of a description or a URL. */
const BRIEF_TEXT = 500;

/** The fields that the service adds to each object, and that say nothing of it. */
const TIMES = ['createdAt', 'updatedAt'];

/** What a tool sends where a model sends nothing, by parameter. */
type Defaults = Readonly<Record<string, number | readonly string[]>>;

/** Less where the service allows less. */
export function limitOf(operation: Operation): number {
  return Math.min(LIMIT, schemaOf(operation, 'limit')?.maximum ?? LIMIT);
}

/** The fields by which one sees what an object is; none for objects of which nothing is known. */
export function briefFields({ list, properties }: Paths): string[] {
  const named = schemaOf(list, 'fields')?.items?.enum ?? [];
  return named.filter((name) => !TIMES.includes(name) && isBrief(properties[name]));
}

/** Neither an object nor a text of any length: a text is of a form, or of a few characters. */
function isBrief(schema: ObjectSchema | Reference | undefined): boolean {
  if (!schema || '$ref' in schema) return false;
  const { type, format, enum: values, maxLength = Infinity, items } = schema;
  const [name] = [type].flat();
  if (name === 'array') return isBrief(items);
  if (name === 'string') return maxLength <= BRIEF_TEXT || (format ?? values) !== undefined;
  return ['integer', 'number', 'boolean'].includes(name ?? '');
}

/** What the service does without a parameter: the last sentence about it. */
const DEFAULT = / Default: .*\.$/;

/** The parameters of a path, described with what is sent in their place. */
export function withDefaults(operation: Operation, defaults: Defaults): Parameter[] {
  return parametersOf(operation).map((each) => {
    const value = defaults[each.name];
    if (value === undefined) return each;
    const most = each.schema.maximum === undefined ? '' : `, at most ${each.schema.maximum}`;
    const description = each.description.replace(DEFAULT, '');
    return { ...each, description: `${description} Default: ${value.toString()}${most}.` };
  });
}

function schemaOf(operation: Operation, name: string) {
  return parametersOf(operation).find((each) => each.name === name)?.schema;
}
