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

/** A parameter as its consumers are told of it. */
export interface DeclaredParameter {
  readonly meaning: string;
  /** Read when it is told, since some bounds are settings. */
  readonly schema: ParameterSchema;
  /** Whether no request does without it. */
  readonly isRequired?: boolean;
  /** A text that it takes. */
  readonly example: string;
}

interface QueryClass {
  readonly prototype: object;
}

/** By the prototype of a query class: its own parameters, not those that it inherits. */
const declared = new WeakMap<object, Map<string, DeclaredParameter>>();

/** Makes a property of a query class a parameter that the consumers of the endpoint are told of. */
export function Declared(parameter: DeclaredParameter): PropertyDecorator {
  return (query, name) => {
    const known = declared.get(query) ?? new Map<string, DeclaredParameter>();
    declared.set(query, known.set(String(name), parameter));
  };
}

/** The parameters that a query class declares itself. */
export function ownParameters(query: QueryClass): ReadonlyMap<string, DeclaredParameter> {
  return declared.get(query.prototype) ?? new Map<string, DeclaredParameter>();
}

/** The parameters that a query class takes, inherited ones first. */
export function parametersOf(query: QueryClass): ReadonlyMap<string, DeclaredParameter> {
  const classes: object[] = [];
  let prototype: unknown = query.prototype;
  while (typeof prototype === 'object' && prototype !== null) {
    classes.unshift(prototype);
    prototype = Object.getPrototypeOf(prototype);
  }
  return new Map(classes.flatMap((each) => [...(declared.get(each) ?? [])]));
}
