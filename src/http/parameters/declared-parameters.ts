import type { ClassTransformOptions } from 'class-transformer';
import type { Settings } from '../../settings/settings.js';

/** What of JSON Schema, draft 2020-12, is said of a parameter's value. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'boolean' | 'array';
  /** `decimal` and `date-time` are texts of that form. */
  readonly format?: 'int32' | 'int64' | 'decimal' | 'date-time';
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** Of an array, which a query holds as texts separated by commas. */
  readonly items?: ParameterSchema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly default?: unknown;
}

/** The settings that bound parameters. */
export type ParameterSettings = Pick<Settings, 'maxLimit'>;

/** A parameter as it is documented, in `OPTIONS` and in the OpenAPI document. */
export interface DeclaredParameter {
  readonly meaning: string;
  /** A function where settings bound the value. */
  readonly schema: ParameterSchema | ((settings: ParameterSettings) => ParameterSchema);
  /** Whether every request must have it. */
  readonly isRequired?: boolean;
  /** A text that the parameter accepts. */
  readonly example: string;
}

/** The schema of a parameter under some settings. */
export function schemaOf(
  { schema }: DeclaredParameter,
  settings: ParameterSettings,
): ParameterSchema {
  return typeof schema === 'function' ? schema(settings) : schema;
}

interface QueryClass {
  readonly prototype: object;
}

type Parameters = ReadonlyMap<string, DeclaredParameter>;

/** By the prototype of a query class, the parameters that it declares itself. */
const declared = new WeakMap<object, Map<string, DeclaredParameter>>();
/** The same with those that it inherits, made when it is used first. */
const collected = new WeakMap<object, Parameters>();

/**
 * Makes a property of a query class a parameter. This is the one registry: a parameter that is not
 * declared is refused with `-23`, and a declared one is documented.
 */
export function Declared(parameter: DeclaredParameter): PropertyDecorator {
  return (query, name) => {
    const own = declared.get(query) ?? new Map<string, DeclaredParameter>();
    declared.set(query, own.set(String(name), parameter));
  };
}

/** The parameters that a query class declares itself. */
export function ownParameters(query: QueryClass): Parameters {
  return declared.get(query.prototype) ?? new Map<string, DeclaredParameter>();
}

/** The parameters of a query class, inherited ones first. */
export function parametersOf({ prototype }: QueryClass): Parameters {
  let parameters = collected.get(prototype);
  if (!parameters) collected.set(prototype, (parameters = collect(prototype)));
  return parameters;
}

function collect(prototype: object): Parameters {
  const classes: object[] = [];
  for (let at: unknown = prototype; typeof at === 'object' && at !== null;) {
    classes.unshift(at);
    at = Object.getPrototypeOf(at);
  }
  return new Map(classes.flatMap((each) => [...(declared.get(each) ?? [])]));
}

/** Options for class-transformer that carry the settings to the readers of parameters. */
export interface ReadOptions extends ClassTransformOptions {
  readonly settings: ParameterSettings;
}
