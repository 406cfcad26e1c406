import {
  allowedValues,
  type Property,
  type Rule,
  type Shape,
  type ValueType,
} from './json-shape.js';

/** The JSON schema of values of a shape. Stored objects may have more keys than it tells. */
export function schemaOfShape(shape: Shape): Readonly<Record<string, unknown>> {
  if (shape.kind === 'object') {
    const entries = [...shape.properties];
    const required = entries.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(entries.map(([name, each]) => [name, schemaOfProperty(each)])),
      ...(required.length > 0 && { required }),
    };
  }
  const keywords = Object.assign({}, ...shape.rules.map(keywordsOf)) as object;
  if (shape.kind === 'list')
    return { type: 'array', items: schemaOfShape(shape.items), ...keywords };
  return { ...(shape.type && TYPE_SCHEMAS[shape.type]), ...keywords };
}

function schemaOfProperty({ shape, isOptional, meaning, example }: Property) {
  const { type, enum: values, ...rest } = schemaOfShape(shape);
  return {
    ...(meaning !== undefined && { description: meaning }),
    ...(type !== undefined && { type: isOptional ? [type, 'null'] : type }),
    ...(Array.isArray(values) && { enum: isOptional ? [...(values as unknown[]), null] : values }),
    ...rest,
    ...(example !== undefined && { examples: [exampleOfShape(shape, example)] }),
  };
}

const TYPE_SCHEMAS: Readonly<Record<ValueType, object>> = {
  string: { type: 'string' },
  // With more digits, JavaScript would round it.
  integer: {
    type: 'integer',
    format: 'int64',
    minimum: -999_999_999_999_999,
    maximum: 999_999_999_999_999,
  },
  number: { type: 'number', format: 'double' },
  boolean: { type: 'boolean' },
};

/** The keywords that have the first argument of a rule as their value. */
const KEYWORDS: ReadonlyMap<string | undefined, string> = new Map([
  ['min', 'minimum'],
  ['max', 'maximum'],
  ['minLength', 'minLength'],
  ['maxLength', 'maxLength'],
  ['arrayMinSize', 'minItems'],
  ['arrayMaxSize', 'maxItems'],
]);

function keywordsOf(rule: Rule): object {
  const [first, second] = rule.constraints ?? [];
  const keyword = KEYWORDS.get(rule.name);
  if (keyword !== undefined) return { [keyword]: first };
  switch (rule.name) {
    case 'isIn':
    case 'isEnum':
      return { enum: allowedValues(rule) };
    case 'isLength':
      return { minLength: first, ...(second !== undefined && { maxLength: second }) };
    case 'matches':
      return first instanceof RegExp && first.flags === '' ? { pattern: first.source } : {};
    default:
      return {};
  }
}

/** A value of a shape. */
export function exampleOfShape(shape: Shape, example?: string): unknown {
  if (shape.kind === 'object') {
    const entries = [...shape.properties];
    return Object.fromEntries(
      entries.map(([name, each]) => [name, exampleOfShape(each.shape, each.example)]),
    );
  }
  if (shape.kind === 'list') return [exampleOfShape(shape.items, example)];
  if (shape.type === 'boolean') return example !== 'false';
  if (example !== undefined) {
    return shape.type === 'integer' || shape.type === 'number' ? Number(example) : example;
  }
  const { enum: values, ...bounds } = schemaOfShape(shape) as Readonly<Record<string, number>> & {
    readonly enum?: readonly unknown[];
  };
  if (values) return values[0];
  const { minimum = 1, maximum = 1, minLength = 1 } = bounds;
  if (shape.type === undefined) return {};
  return shape.type === 'string' ? 'a'.repeat(minLength) : Math.min(Math.max(1, minimum), maximum);
}
