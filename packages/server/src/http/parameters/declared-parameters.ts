import type { Settings } from '../../settings/settings.js';
import { type Rights, rightsOf, type ScopeClient } from '../../resource/visibility.js';
import type { ApiError } from '../errors.js';

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

/** What bounds parameters: settings, and what the client may read. */
export interface ParameterSettings extends Pick<Settings, 'maxLimit'> {
  readonly rights: Rights;
}

/** Most objects on a page of a client whose token everybody can read. */
const PUBLIC_LIMIT = 100;

/** What bounds the parameters of a client. */
export function settingsFor(
  { maxLimit }: Pick<Settings, 'maxLimit'>,
  client: ScopeClient | undefined,
): ParameterSettings {
  const rights = rightsOf(client);
  return { maxLimit: rights.isPublic ? Math.min(PUBLIC_LIMIT, maxLimit) : maxLimit, rights };
}

/** Takes the place of a value that could not be read. */
export class InvalidValue {
  /** @param toError creates the error to respond with, given the parameter's name */
  constructor(readonly toError: (name: string) => ApiError) {}
}

/** A parameter as `OPTIONS` and the OpenAPI document describe it. */
export interface DeclaredParameter {
  readonly meaning: string;
  /** A function if the schema depends on settings. */
  readonly schema: ParameterSchema | ((settings: ParameterSettings) => ParameterSchema);
  /**
   * The columns that the condition of a filter reads: properties of the entity, and such as `variants.name` of another
   * resource. Absent: the column that the name of the filter says.
   */
  readonly reads?: readonly string[];
  /** A valid value, as text. Absent: any text is valid, or the time decides which values are. */
  readonly example?: string | undefined;
  /** Converts the text to a value, or to an `InvalidValue`. Absent: the value is the text. */
  readonly read?: (text: string, settings: ParameterSettings) => unknown;
  /**
   * Converts what `read` returned once all parameters are read, some of them to an `InvalidValue`. For a parameter
   * whose value depends on others.
   */
  readonly readBeside?: (
    value: unknown,
    query: Readonly<Record<string, unknown>>,
    settings: ParameterSettings,
  ) => unknown;
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

/** The parameters that a query class declares itself, by its prototype. */
const declared = new WeakMap<object, Map<string, DeclaredParameter>>();
/** Own and inherited parameters, by prototype. Entries are added on first use. */
const collected = new WeakMap<object, Parameters>();

/**
 * Declares a property of a query class as a parameter. This is the only registry of parameters: an
 * undeclared parameter gets `-23`, and every declared one is documented.
 *
 * @throws TypeError if the class has declared it already
 */
export function Parameter(parameter: DeclaredParameter): PropertyDecorator {
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

/** The parameters that a query class declares itself. */
export function ownParameters(query: QueryClass): Parameters {
  return declared.get(query.prototype) ?? new Map<string, DeclaredParameter>();
}

/** The parameters of a query class, inherited ones first. */
export function parametersOf({ prototype }: QueryClass): Parameters {
  let parameters = collected.get(prototype);
  if (!parameters) {
    const base = Object.getPrototypeOf(prototype) as object | null;
    const inherited = base ? parametersOf({ prototype: base }) : [];
    parameters = new Map([...inherited, ...(declared.get(prototype) ?? [])]);
    collected.set(prototype, parameters);
  }
  return parameters;
}

/**
 * Reads the texts of parameters into an object of a query class. A property is an `InvalidValue` if its text
 * cannot be read. Undeclared names are left out.
 */
export function readParameters(
  query: new () => object,
  texts: Iterable<readonly [name: string, text: string]>,
  settings: ParameterSettings,
): Record<string, unknown> {
  const parameters = parametersOf(query);
  const values = new query() as Record<string, unknown>;
  for (const [name, text] of texts) {
    const parameter = parameters.get(name);
    if (parameter) values[name] = parameter.read ? parameter.read(text, settings) : text;
  }
  return values;
}
