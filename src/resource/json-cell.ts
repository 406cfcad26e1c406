import type { CellFormat } from './column-values.js';
import { hasItsDigits } from './column-types.js';
import { isText } from './formats.js';
import { refusalOf } from './json-refusal.js';
import type { Shape } from './json-shape.js';

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
