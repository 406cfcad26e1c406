import { types } from 'node:util';

/** The `code` of a system error (`EACCES`) or a PostgreSQL error (`57P03`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  const code = types.isNativeError(error) && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
