import { types } from 'node:util';

/**
 * Why the database did not do what it was asked, where the statement itself is not at fault:
 * - `unreachable`: no connection, or the server refuses work for lack of resources
 * - `timeout`: the statement ran past its time
 * - `conflict`: a concurrent transaction prevented it; a second attempt may succeed
 * - `overloaded`: every connection was in use for too long
 */
export type DatabaseFailure = 'unreachable' | 'timeout' | 'conflict' | 'overloaded';

/** Thrown in place of a query for which too many others wait for a connection already. */
export class PoolOverloadedError extends Error {
  override name = 'PoolOverloadedError';

  constructor() {
    super('Too many queries wait for a connection');
  }
}

/** Codes of Node's sockets and of the resolver, for a server that does not answer. */
const UNREACHABLE = /^E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|PROTO)$/;

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const QUERY_CANCELED = '57014';
/** serialization_failure, deadlock_detected */
const RETRYABLE_CODES = ['40001', '40P01'];

/** The kind of a failure; `undefined` for any other error, such as a statement that is wrong. */
export function databaseFailure(thrown: unknown): DatabaseFailure | undefined {
  if (!types.isNativeError(thrown)) return undefined;
  if (thrown instanceof PoolOverloadedError) return 'overloaded';
  const { code, severity, message } = driverErrorOf(thrown);
  if (code === QUERY_CANCELED || message === 'Query read timeout') return 'timeout';
  if (code !== undefined && RETRYABLE_CODES.includes(code)) return 'conflict';
  // Class 53: no connections, memory or disk space left.
  if (code?.startsWith('53')) return 'unreachable';
  // What ends a connection, or prevents one, is not about the statement.
  if (severity === 'FATAL' || severity === 'PANIC') return 'unreachable';
  if (code !== undefined && UNREACHABLE.test(code)) return 'unreachable';
  // node-postgres gives these no code.
  if (/^Connection terminated|not queryable$|^timeout expired$/.test(message)) {
    return 'unreachable';
  }
  if (message === 'timeout exceeded when trying to connect') return 'overloaded';
  return undefined;
}

/** What node-postgres says of an error: PostgreSQL's fields, or the code of a socket. */
interface DriverError {
  readonly message: string;
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
}

/** The driver's error that TypeORM wrapped, or the one thrown itself. */
export function driverErrorOf(thrown: unknown): DriverError {
  const { driverError } = thrown as { driverError?: unknown };
  return (types.isNativeError(driverError) ? driverError : thrown) as DriverError;
}
