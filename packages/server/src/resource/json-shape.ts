import { getMetadataStorage, ValidationTypes } from 'class-validator';
import { decoratedType } from '../private-api/decorators.js';
import { meaningOf } from './declaration.js';
import { transformingDecorators, unreadMetadata } from './unread-declarations.js';

/** What classes declare of a value in JSON: an object, a list, or any other value. */
export type Shape = ObjectShape | ListShape | ValueShape;

export interface ObjectShape {
  readonly kind: 'object';
  readonly properties: ReadonlyMap<string, Property>;
}

interface ListShape {
  readonly kind: 'list';
  readonly items: Shape;
  /** The rules for the list itself. */
  readonly rules: readonly Rule[];
}

interface ValueShape {
  readonly kind: 'value';
  /** A type of JSON Schema; `undefined` for any value. */
  readonly type?: ValueType;
  readonly rules: readonly Rule[];
}

type ValueType = 'string' | 'integer' | 'number' | 'boolean';

/** A property of an object. */
interface Property {
  readonly shape: Shape;
  /** Whether it may be missing or null. */
  readonly isOptional: boolean;
  readonly meaning?: string;
  readonly example?: string;
}

type Metadata = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidationMetadatas']
>[number];

/** A rule of class-validator for a property. Its own type says that there are always constraints. */
type Rule = Omit<Metadata, 'constraints'> & { readonly constraints?: readonly unknown[] };

type Constraint = ReturnType<
  ReturnType<typeof getMetadataStorage>['getTargetValidatorConstraints']
>[number];

type Class = new () => object;

/** The shape of a column or of a class, or what is wrong with its declaration, as lines. */
interface DeclaredShape {
  /** Absent for a column of any object or list. */
  readonly shape?: Shape;
  readonly problems: readonly string[];
}

const SHAPES = new WeakMap<object, Map<string, DeclaredShape>>();

/** The shape that `@Type` declares for a column of type `jsonb`. */
export function declaredShape(entity: object, column: string): DeclaredShape {
  const known = SHAPES.get(entity) ?? new Map<string, DeclaredShape>();
  SHAPES.set(entity, known);
  let declared = known.get(column);
  if (!declared) known.set(column, (declared = readColumn(entity as Class, column)));
  return declared;
}

/** The shape that a class declares, or what is wrong with it. */
export function classShape(type: Class): DeclaredShape & { readonly shape?: ObjectShape } {
  const problems: string[] = [];
  const shape = readClass(type, problems, []);
  return problems.length > 0 ? { problems } : { shape, problems };
}

function readColumn(entity: Class, column: string): DeclaredShape {
  const design: unknown = Reflect.getMetadata('design:type', entity.prototype as object, column);
  const type = typeOf(entity, column);
  if (!type) {
    if (typeof design !== 'function' || BUILT_IN.has(design)) return { problems: [] };
    const name = `${entity.name}.${column}`;
    return {
      problems: [`${name} is of the class ${design.name}: give it @Type(() => ${design.name})`],
    };
  }
  const { shape, problems } = classShape(type);
  return shape && design === Array
    ? { shape: { kind: 'list', items: shape, rules: [] }, problems }
    : { shape, problems };
}

/** What the compiler has in place of types that are no classes of the project. */
const BUILT_IN: ReadonlySet<unknown> = new Set([Object, Array, String, Number, Boolean]);

/** The class that `@Type` gives a property; `undefined` if there is none. */
function typeOf(owner: Class, property: string): Class | undefined {
  const type: Class | undefined = decoratedType(owner, property);
  return type === Object ? undefined : type;
}

/** @param enclosing the classes whose properties lead to this one */
function readClass(type: Class, problems: string[], enclosing: readonly Class[]): ObjectShape {
  const properties = new Map<string, Property>();
  if (enclosing.includes(type)) {
    problems.push(`${type.name} refers to itself, so that its shape has no end`);
    return { kind: 'object', properties };
  }
  problems.push(...unreadMetadata(type.name, type, type.prototype as object));
  for (const what of transformingDecorators(type, true))
    problems.push(`${what}, which nothing applies: declare what the JSON has`);
  const rules: Rule[] = getMetadataStorage().getTargetValidationMetadatas(type, '', false, false);
  // Class fields are defined (ES2022), so an object has every declared property as a key, also one without a
  // decorator. Only one with `declare` is missing.
  const names = new Set([
    ...Object.keys(new type()),
    ...rules.map(({ propertyName }) => propertyName),
  ]);
  for (const name of names) {
    const own = rules.filter(({ propertyName }) => propertyName === name);
    const path = `${type.name}.${name}`;
    const conditional = own.filter(
      ({ type: kind }) => kind === ValidationTypes.CONDITIONAL_VALIDATION,
    );
    const unknown = own.filter((rule) => !KNOWN.has(rule.type) && !conditional.includes(rule));
    if (unknown.length > 0 || conditional.some(({ name: rule }) => rule !== 'isOptional')) {
      problems.push(`${path} has a decorator of class-validator that depends on other properties`);
    }
    const shape = readProperty(type, name, own, problems, [...enclosing, type]);
    const { meaning, example } = meaningOf(type, name) ?? {};
    if (shape)
      properties.set(name, { shape, isOptional: conditional.length > 0, meaning, example });
    if (own.some(({ name: rule }) => rule === 'matches') && example === undefined) {
      problems.push(`${path} has @Matches: give it an example that matches, with @Meaning`);
    }
  }
  if (names.size === 0) problems.push(`${type.name} has no properties`);
  return { kind: 'object', properties };
}

const KNOWN: ReadonlySet<string> = new Set([
  ValidationTypes.CUSTOM_VALIDATION,
  ValidationTypes.NESTED_VALIDATION,
  ValidationTypes.WHITELIST,
]);

function readProperty(
  owner: Class,
  name: string,
  rules: readonly Rule[],
  problems: string[],
  enclosing: readonly Class[],
): Shape | undefined {
  const path = `${owner.name}.${name}`;
  const checks = rules.filter(({ type }) => type === ValidationTypes.CUSTOM_VALIDATION);
  if (checks.some((rule) => constraintOf(rule)?.async)) {
    problems.push(`${path} has a decorator of class-validator that is asynchronous`);
  }
  const nested = rules.find(({ type }) => type === ValidationTypes.NESTED_VALIDATION);
  const typed = checks.find((rule) => valueTypeOf(rule) !== undefined);
  const item = nested ?? typed;
  const design: unknown = Reflect.getMetadata('design:type', owner.prototype as object, name);
  const isList = item?.each === true || (nested !== undefined && design === Array);
  const ofItems = checks.filter(({ each, name: rule }) => isList === each && rule !== 'isArray');
  let shape: Shape;
  if (nested) {
    const type = typeOf(owner, name);
    if (!type) {
      problems.push(`${path} has @ValidateNested() without @Type(() => ItsClass)`);
      return undefined;
    }
    shape = readClass(type, problems, enclosing);
  } else if (typed) {
    // First whether it is of the type at all.
    const rules = [typed, ...ofItems.filter((rule) => rule !== typed)];
    shape = { kind: 'value', type: valueTypeOf(typed), rules };
  } else if (rules.some(({ type }) => type === ValidationTypes.WHITELIST)) {
    // `@Allow()` is stored as WHITELIST.
    return { kind: 'value', rules: checks };
  } else {
    problems.push(
      `${path} has no type: give it @IsString(), @IsInt(), @IsNumber(), @IsBoolean(), @IsEnum(), @IsIn(), @ValidateNested() with @Type(), or @Allow() for any value`,
    );
    return undefined;
  }
  const ofList = checks.filter(({ each, name: rule }) => !each && rule !== 'isArray');
  return isList ? { kind: 'list', items: shape, rules: ofList } : shape;
}

/** The type of the values that a rule allows; `undefined` for a rule that does not say one. */
function valueTypeOf(rule: Rule): ValueType | undefined {
  const values = allowedValues(rule);
  if (!values) return VALUE_TYPES.get(rule.name ?? '');
  const [type, ...others] = new Set(values.map((value) => typeof value));
  if (others.length > 0) return undefined;
  return type === 'string' || type === 'number' || type === 'boolean' ? type : undefined;
}

const VALUE_TYPES: ReadonlyMap<string, ValueType> = new Map([
  ['isString', 'string'],
  ['isInt', 'integer'],
  ['isNumber', 'number'],
  ['isBoolean', 'boolean'],
]);

/** The values that a rule allows; `undefined` for a rule that does not name them. */
function allowedValues({ name, constraints }: Rule): readonly unknown[] | undefined {
  const [first, second] = constraints ?? [];
  const values = name === 'isIn' ? first : name === 'isEnum' ? second : undefined;
  return Array.isArray(values) ? values : undefined;
}

/** What checks a rule. */
export function constraintOf({ constraintCls }: Rule): Constraint | undefined {
  return getMetadataStorage().getTargetValidatorConstraints(constraintCls)[0];
}

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
