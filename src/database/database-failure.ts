import { types } from 'node:util';
import { type ApiError, busy, errors } from '../http/errors.js';

/** Codes of Node's sockets and of the resolver, for a server that does not answer. */
const UNREACHABLE = /^E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|PROTO)$/;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: query_canceled */
const CANCELLED = '57014';

/** Likewise: serialization_failure, deadlock_detected. Others stood in its way, and it may try again. */
const IN_THE_WAY = ['40001', '40P01'];

/** How a failure of the database is told to a client; `undefined` where it is a fault of ours. */
export function databaseError(thrown: unknown): ApiError | undefined {
  if (!types.isNativeError(thrown)) return undefined;
  const { code, severity, message } = failureOf(thrown);
  if (code === CANCELLED || message === 'Query read timeout') return errors.tookTooLong();
  if (code !== undefined && IN_THE_WAY.includes(code)) return busy();
  // Connections, memory or disk space: class 53.
  if (code?.startsWith('53')) return errors.unavailable();
  // What ends a connection, or keeps one from being made, is not about the query.
  if (severity === 'FATAL' || severity === 'PANIC') return errors.unavailable();
  if (code !== undefined && UNREACHABLE.test(code)) return errors.unavailable();
  // node-postgres gives these no code.
  if (/^Connection terminated|not queryable$|^timeout expired$/.test(message)) {
    return errors.unavailable();
  }
  if (message === 'timeout exceeded when trying to connect') return busy();
  return undefined;
}

/** What node-postgres tells of a failure: PostgreSQL's fields, or the code of a socket. */
interface Failure {
  readonly message: string;
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
}

/** The failure that TypeORM wrapped, or the one thrown itself. */
export function failureOf(thrown: unknown): Failure {
  const { driverError } = thrown as { driverError?: unknown };
  return (types.isNativeError(driverError) ? driverError : thrown) as Failure;
}
