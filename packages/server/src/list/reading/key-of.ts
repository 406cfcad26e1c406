import { hash } from 'node:crypto';

/** A key of texts and parameter values: equal for equal ones only, and none can tell them from it. */
export function keyOf(...parts: readonly unknown[]): string {
  return hash('sha256', textOf(parts), 'base64url');
}

/**
 * The text of a value. No such text is the beginning of another one, so that they can be joined. JSON alone takes three times
 * as long, and has the same text for infinite numbers, `NaN`, `undefined` and null.
 */
function textOf(value: unknown): string {
  if (typeof value === 'string') return `${value.length} ${value}`;
  if (Array.isArray(value)) return `[${value.map(textOf).join('')}]`;
  return typeof value === 'object' && value !== null
    ? `object ${textOf(JSON.stringify(value))}`
    : `${typeof value} ${String(value)},`;
}
