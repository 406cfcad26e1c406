import type { ClassTransformOptions } from 'class-transformer';
import type { Settings } from '../../settings/settings.js';
import type { InvalidValue } from './invalid-value.js';

/** The subset of JSON Schema, draft 2020-12, that describes a parameter's value. */
export interface ParameterSchema {
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array';
  /**
   * `double` is a format of a number; `decimal`, `date`, `date-time` and `uuid` are formats of a string, and
   * `int64` is one of an integer or a string.
   */
  readonly format?: 'int32' | 'int64' | 'double' | 'decimal' | 'date' | 'date-time' | 'uuid';
  readonly pattern?: string;
  readonly enum?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  /** The items of an array, which a query separates by commas. */
  readonly items?: ParameterSchema;
  readonly minItems?: number;
  readonly default?: unknown;
}

/** The settings that bound parameters. */
export type ParameterSettings = Pick<Settings, 'maxLimit'>;

/** A parameter as `OPTIONS` and the OpenAPI document describe it. */
export interface DeclaredParameter {
  readonly meaning: string;
  /** A function if the schema depends on settings. */
  readonly schema: ParameterSchema | ((settings: ParameterSettings) => ParameterSchema);
  /** Whether every request must have it. */
  readonly isRequired?: boolean;
  /** A valid value, as text. A function if the time decides which values are valid. */
  readonly example: string | (() => string);
}

/** Converts a parameter's text to a value. Returns an `InvalidValue` for an invalid text. */
export type Read<T = unknown> = (text: string, settings: ParameterSettings) => T | InvalidValue;

/** The schema of a parameter under some settings. */
export function schemaOf(
  { schema }: DeclaredParameter,
  settings: ParameterSettings,
): ParameterSchema {
  return typeof schema === 'function' ? schema(settings) : schema;
}

/** A value of a parameter that is valid now, as text. */
export function validExample({ example }: DeclaredParameter): string {
  return typeof example === 'function' ? example() : example;
}

interface QueryClass {
  readonly prototype: object;
}

type Parameters = ReadonlyMap<string, DeclaredParameter>;

/** The parameters that a query class declares itself, by its prototype. */
const declared = new WeakMap<object, Map<string, DeclaredParameter>>();
/** Own and inherited parameters, by prototype. Entries are added on first use. */
const collected = new WeakMap<object, Parameters>();
/** How the text of a parameter is read. */
const readers = new WeakMap<DeclaredParameter, Read>();

/**
 * Declares a property of a query class as a parameter. This is the only registry of parameters: an
 * undeclared parameter gets `-23`, and every declared one is documented.
 *
 * @param read default: the value is the text
 * @throws TypeError if the class has declared it already
 */
export function Declared(parameter: DeclaredParameter, read?: Read): PropertyDecorator {
  if (read) readers.set(parameter, read);
  return (query, name) => {
    const own = declared.get(query) ?? new Map<string, DeclaredParameter>();
    if (own.has(String(name))) {
      throw new TypeError(
        `${query.constructor.name}.${String(name)} is declared twice as a parameter`,
      );
    }
    declared.set(query, own.set(String(name), parameter));
  };
}

/** The value of a parameter's text, or an `InvalidValue`. */
export function readParameter(
  parameter: DeclaredParameter,
  text: string,
  settings: ParameterSettings,
): unknown {
  const read = readers.get(parameter);
  return read ? read(text, settings) : text;
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

/** Options of class-transformer that pass the settings to the readers of parameters. */
export interface ReadOptions extends ClassTransformOptions {
  readonly settings: ParameterSettings;
}
