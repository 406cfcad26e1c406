import { types } from 'node:util';

/** See index.d.ts. */
export class EmbeddedPostgresError extends Error {
  /** @override */
  name = 'EmbeddedPostgresError';
}

/**
 * The `code` of a system error, such as `EACCES`.
 *
 * @param {unknown} error
 */
export function errorCode(error) {
  return types.isNativeError(error) && 'code' in error ? String(error.code) : undefined;
}

/** @param {unknown} error */
export function messageOf(error) {
  return error instanceof Error ? error.message : String(error);
}

/** @param {string} text */
export function oneLine(text) {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join('; ');
}
