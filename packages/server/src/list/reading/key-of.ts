import { hash } from 'node:crypto';

/**
 * A key of texts and parameter values: equal for equal ones only, and none can tell them from it. JSON alone
 * has the same text for infinite numbers, `NaN`, `undefined` and null.
 */
export function keyOf(...parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts, withType), 'base64url');
}

function withType(_: string, value: unknown): unknown {
  const isText =
    value === undefined ||
    typeof value === 'bigint' ||
    (typeof value === 'number' && !Number.isFinite(value));
  return isText ? { [typeof value]: String(value) } : value;
}
