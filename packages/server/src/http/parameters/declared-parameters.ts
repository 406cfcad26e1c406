import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { declaredOf } from '../../resource/declaration.js';
import { namedColumn } from '../../resource/resource.js';
import {
  type EntityColumn,
  type Rights,
  rightsOf,
  type ScopeClient,
} from '../../resource/visibility.js';
import type { Settings } from '../../settings/settings.js';
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

/**
 * The values in a text that separates them by commas. Double quotes around a value keep its commas, and a double quote within
 * them is written twice, as in CSV. `undefined` if a quote is not closed, or if something else than a comma follows the
 * closing one.
 */
export function separatedValues(text: string): string[] | undefined {
  const values: string[] = [];
  const next = /(?:"((?:[^"]|"")*)"|([^",][^,]*|))(,|$)/y;
  for (;;) {
    const found = next.exec(text);
    if (!found) return undefined;
    const [, quoted, bare, end] = found;
    values.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '') return values;
  }
}

/** A value as one of several: in double quotes if it has a comma or begins with a double quote. */
export function separableValue(value: string): string {
  return /^"|,/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}

const ENTITY = Symbol('entity');

/** Sets the entity of a query class. */
export function setEntity(query: object, entity: ObjectType<unknown>): void {
  Reflect.defineMetadata(ENTITY, entity, query);
}

/** The entity of a query class; `undefined` for a class without `@QueryOf`. */
export function entityOf(query: object): ObjectType<unknown> | undefined {
  return Reflect.getMetadata(ENTITY, query) as ObjectType<unknown> | undefined;
}

/**
 * The columns that a parameter reads: those that it says, or else the one that its name says. `undefined`: it says none,
 * so that it may read any.
 *
 * @throws TypeError if it says a column that there is not
 */
export function columnsRead(query: QueryClass, name: string): readonly EntityColumn[] | undefined {
  const entity = entityOf(query);
  const { reads } = parametersOf(query).get(name) ?? {};
  if (!reads) {
    const named = entity && namedColumn(entity, name);
    return named && [[entity, named.column]];
  }
  return reads.map((each) => {
    const column = columnNamed(entity, each);
    if (column) return column;
    throw new TypeError(
      `${query.prototype.constructor.name}.${name} reads ${each}, which is no column`,
    );
  });
}

/** @param name such as `price`, of the entity, or `variants.price` */
function columnNamed(entity: object | undefined, name: string): EntityColumn | undefined {
  const [property, resource] = name.split('.').reverse();
  const found = getMetadataArgsStorage().columns.find(
    ({ target, propertyName }) =>
      propertyName === property &&
      (resource === undefined ? target === entity : declaredOf({ target })?.name === resource),
  );
  return found && [found.target as object, found.propertyName];
}

/**
 * Whether a client may send a parameter to an endpoint: the query class declares it, and the client sees every column that
 * it reads, and something that it may name.
 */
export function isAllowed(query: QueryClass, name: string, settings: ParameterSettings): boolean {
  const parameter = parametersOf(query).get(name);
  const { rights } = settings;
  if (!parameter || !rights.isRestricted) return parameter !== undefined;
  if (schemaOf(parameter, settings).items?.enum?.length === 0) return false;
  return columnsRead(query, name)?.every((column) => rights.sees(...column)) ?? false;
}

/** The credentials, which every request may have as parameters. A guard checks them. */
export class CredentialsQueryDto {
  @Credential('Who asks; or the header X-Client-ID.', 100, 'demo')
  clientID?: string;

  @Credential(
    'The access token of the client; or the header Authorization. A public client needs none.',
    500,
    'token',
  )
  access_token?: string;
}

/** Whether a parameter is one of the credentials. */
export function isCredential(name: string): boolean {
  return ownParameters(CredentialsQueryDto).has(name);
}

function Credential(meaning: string, maxLength: number, example: string): PropertyDecorator {
  const schema = { type: 'string', minLength: 1, maxLength, pattern: '^[\\x21-\\x7e]+$' } as const;
  return Parameter({ meaning, schema, example, reads: [] });
}
