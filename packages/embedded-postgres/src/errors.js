import { types } from 'node:util';

/** See index.d.ts. */
export class EmbeddedPostgresError extends Error {
  /** @override */
  name = 'EmbeddedPostgresError';
}

/** The `code` of a system error, such as `EACCES`. @param {unknown} error */
export function errorCode(error) {
  return types.isNativeError(error) && 'code' in error ? String(error.code) : undefined;
}

/**
 * The value of a promise; undefined if the file that it needs does not exist.
 *
 * @template T
 * @param {Promise<T>} promise
 */
export async function unlessMissing(promise) {
  return promise.catch((/** @type {unknown} */ error) => {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  });
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
