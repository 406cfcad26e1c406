import type { CellFormat } from './column-values.js';
import { hasItsDigits } from './column-types.js';
import { isText } from './formats.js';
import { constraintOf, type ObjectShape, type Shape } from './json-shape.js';

/** Maximum levels of a JSON value: the import visits them one by one, and so do its readers. */
const MAXIMUM_LEVELS = 100;

/**
 * How an import reads an object or a list in JSON.
 *
 * @param shape the declared one; `undefined` if the column may hold any object or list
 */
export function jsonCell(shape: Shape | undefined): CellFormat {
  const refusal = (value: unknown) => shape && refusalOf(shape, value);
  const readObject = (value: unknown): string | undefined =>
    isStorable(value, MAXIMUM_LEVELS) && refusal(value) === undefined
      ? JSON.stringify(value)
      : undefined;
  return {
    expected: `an object or a list in JSON, its numbers of 15 digits at most, ${MAXIMUM_LEVELS} levels at most`,
    read: (text) => {
      const value = parsed(text);
      return isObject(value) ? readObject(value) : undefined;
    },
    readObject,
    expectedOf: (cell) => {
      const value = typeof cell === 'string' ? parsed(cell) : cell;
      if (!isObject(value) || !isStorable(value, MAXIMUM_LEVELS)) return undefined;
      return `as its class declares it: ${refusal(value)}`;
    },
  };
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

/** What a text in JSON says; `undefined` for any other text. */
export function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether PostgreSQL can store a JSON value, and JavaScript has not rounded its numbers. */
function isStorable(value: unknown, levels: number): boolean {
  if (typeof value === 'string') return isText(value);
  if (typeof value === 'number') return hasItsDigits(value);
  if (typeof value !== 'object' || value === null) return true;
  if (levels === 0) return false;
  return Object.entries(value).every(([key, each]) => isText(key) && isStorable(each, levels - 1));
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
