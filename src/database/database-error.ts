import { type ApiError, errors } from '../http/errors.js';

/** Codes of Node's sockets and of the resolver, for a server that does not answer. */
const UNREACHABLE = /^E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|PROTO)$/;
/** https://www.postgresql.org/docs/current/errcodes-appendix.html: query_canceled */
const CANCELLED = '57014';

/** Likewise: serialization_failure, deadlock_detected. Others stood in its way, and it may try again. */
const IN_THE_WAY = ['40001', '40P01'];

/** How a failure of the database is told to a client; `undefined` where it is a fault of ours. */
export function databaseError(thrown: unknown): ApiError | undefined {
  if (!(thrown instanceof Error)) return undefined;
  const { driverError, code, severity } = thrown as Failure;
  if (driverError instanceof Error) return databaseError(driverError);
  if (code === CANCELLED || thrown.message === 'Query read timeout') return errors.tookTooLong();
  if (code !== undefined && IN_THE_WAY.includes(code)) return busy();
  // What ends a connection, or keeps one from being made, is not about the query.
  if (severity === 'FATAL' || severity === 'PANIC') return errors.unavailable();
  if (code !== undefined && UNREACHABLE.test(code)) return errors.unavailable();
  // node-postgres gives these no code.
  if (/^Connection terminated|not queryable$|^timeout expired$/.test(thrown.message)) {
    return errors.unavailable();
  }
  if (thrown.message === 'timeout exceeded when trying to connect') {
    return busy();
  }
  return undefined;
}

function busy(): ApiError {
  return errors.busy().withHeaders({ 'Retry-After': '1' });
}

interface Failure {
  readonly driverError?: unknown;
  readonly code?: string;
  readonly severity?: string;
}
