import { types } from 'node:util';

/** The `code` of an error of the system (`EACCES`) or of PostgreSQL (`57P03`), if it has one. */
export function errorCode(error: unknown): string | undefined {
  const code = types.isNativeError(error) && 'code' in error ? error.code : undefined;
  return typeof code === 'string' ? code : undefined;
}
