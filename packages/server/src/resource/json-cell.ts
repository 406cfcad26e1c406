import { isText } from './formats.js';
import { constraintOf, type ObjectShape, type Shape } from './json-shape.js';
import { JsonText, MAXIMUM_LEVELS, readJson } from './json-text.js';

/** What a cell must be, and how it is written for PostgreSQL: `undefined` for anything else. */
export interface CellFormat {
  /** Follows "must be". */
  readonly expected: string;
  readonly read: (text: string) => string | undefined;
  /** Reads an object or a list of an NDJSON file. Default: the type has no such value. */
  readonly readObject?: (json: JsonText) => string | undefined;
  /** In place of `expected` for a value that is refused: what it lacks. Default: `expected` says it. */
  readonly expectedOf?: (cell: unknown) => string | undefined;
}

/**
 * How an import reads an object or a list in JSON.
 *
 * @param shape the declared one; `undefined` if the column may hold any object or list
 */
export function jsonCell(shape: Shape | undefined): CellFormat {
  const refusal = (value: unknown) => shape && refusalOf(shape, value);
  const readObject = (json: JsonText): string | undefined =>
    isStorable(json) && refusal(json.value) === undefined ? json.text : undefined;
  return {
    expected: `an object or a list in JSON, its numbers of 15 digits at most, ${MAXIMUM_LEVELS} levels at most, no key twice`,
    read: (text) => {
      const json = readJson(text);
      return json instanceof JsonText ? readObject(json) : undefined;
    },
    readObject,
    expectedOf: (cell) => {
      const json = typeof cell === 'string' ? readJson(cell) : cell;
      if (!(json instanceof JsonText) || !isStorable(json)) return undefined;
      return `as its class declares it: ${refusal(json.value)}`;
    },
  };
}

/** Whether it is an object or a list that PostgreSQL can store, and JavaScript has not rounded its numbers. */
function isStorable({ value, isExact }: JsonText): boolean {
  return isExact && typeof value === 'object' && hasTexts(value);
}

/** Whether PostgreSQL can store the texts of a value. */
function hasTexts(value: unknown): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value !== 'object' || value === null) return true;
  return Object.entries(value).every(([key, each]) => isText(key) && hasTexts(each));
}

/** What is wrong with a value, such as `monday.open must be a string`; `undefined` if it has exactly the shape. */
function refusalOf(shape: Shape, value: unknown, path = ''): string | undefined {
  const name = path === '' ? 'the whole' : path;
  if (shape.kind === 'object') {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return `${name} must be an object`;
    }
    return refusalOfObject(shape, value as Readonly<Record<string, unknown>>, path);
  }
  if (shape.kind === 'list') {
    if (!Array.isArray(value)) return `${name} must be a list`;
    for (const [at, item] of value.entries()) {
      const refusal = refusalOf(shape.items, item, `${path}[${at}]`);
      if (refusal !== undefined) return refusal;
    }
  }
  for (const rule of shape.rules) {
    const { instance } = constraintOf(rule) ?? {};
    const { constraints = [], target } = rule;
    const args = { value, constraints: [...constraints], property: path, object: {} };
    const all = { ...args, targetName: typeof target === 'string' ? target : target.name };
    if (instance && instance.validate(value, all) !== true) {
      const text = typeof rule.message === 'string' ? rule.message : instance.defaultMessage?.(all);
      return messageOf(text ?? `$property is refused by ${rule.name}`, name, constraints);
    }
  }
  return undefined;
}

function refusalOfObject(
  { properties }: ObjectShape,
  object: Readonly<Record<string, unknown>>,
  path: string,
): string | undefined {
  const pathOf = (key: string): string => (path === '' ? key : `${path}.${key}`);
  const undeclared = Object.keys(object).find((key) => !properties.has(key));
  if (undeclared !== undefined) return `${pathOf(undeclared)} is not declared`;
  for (const [key, { shape, isOptional }] of properties) {
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    const isAny = shape.kind === 'value' && shape.type === undefined;
    if (isOptional && (value === undefined || value === null)) continue;
    if (value === undefined || (value === null && !isAny)) return `${pathOf(key)} must be given`;
    const refusal = refusalOf(shape, value, pathOf(key));
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

/** https://github.com/typestack/class-validator#validation-messages */
function messageOf(text: string, property: string, constraints: readonly unknown[]): string {
  return text
    .replace(/^each value in /, '')
    .replace(/\$constraint(\d)/g, (_, at: string) => String(constraints[Number(at) - 1]))
    .replaceAll('$property', () => property);
}
