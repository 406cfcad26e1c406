import { types } from 'node:util';
import { CommandError } from '../command-error.js';

/**
 * Why a query failed for reasons other than its statement:
 * - `unreachable`: there is no connection, no session of its own, or the server lacks resources
 * - `timeout`: the statement exceeded its time limit
 * - `conflict`: a concurrent transaction prevented it; a retry may succeed
 * - `overloaded`: no connection of the pool became free in time
 * - `foreign`: there is no connection from the database to the server of a foreign table
 */
export type DatabaseFailure = 'unreachable' | 'timeout' | 'conflict' | 'overloaded' | 'foreign';

/** Thrown instead of running a query when too many queries already wait for a connection. */
export class PoolOverloadedError extends Error {
  override name = 'PoolOverloadedError';

  constructor() {
    super('Too many queries wait for a connection');
  }
}

/** Thrown instead of running a query, or for one without a response, while the primary answers no checks. */
export class PrimarySilentError extends Error {
  override name = 'PrimarySilentError';

  constructor() {
    super('The primary does not respond');
  }
}

/** Why the server at `DATABASE_URL` is not a writable primary. */
export type Limitation = 'standby' | 'former primary' | 'read-only';

/** Thrown for a connection to a server that is not the primary. */
export class NotPrimaryError extends Error {
  override name = 'NotPrimaryError';

  constructor(
    readonly limitation: Limitation,
    message: string,
  ) {
    super(message);
  }
}

/** Thrown in place of changing the schema of a standby, or of a server that is read-only. */
export class ReadOnlyError extends Error {
  override name = 'ReadOnlyError';

  constructor() {
    super('The database is read-only, or a standby');
  }
}

/** Thrown where a row is missing that migrations insert, as in a table that is being restored. */
export class IncompleteSchemaError extends Error {
  override name = 'IncompleteSchemaError';
}

/** Error codes of Node's sockets and DNS resolver for a server that does not respond. */
const UNREACHABLE = /^E(?:CONN\w+|NOTFOUND|AI_AGAIN|TIMEDOUT|PIPE|HOSTUNREACH|NETUNREACH|PROTO)$/;

// https://www.postgresql.org/docs/current/errcodes-appendix.html
const QUERY_CANCELED = '57014';
const LOCK_NOT_AVAILABLE = '55P03';
/** invalid_sql_statement_name, duplicate_prepared_statement: a pooler has given the session to another connection */
const FOREIGN_SESSION = ['26000', '42P05'];
/** serialization_failure, deadlock_detected */
const RETRYABLE_CODES = ['40001', '40P01'];

/**
 * What a statement of the service gets while the schema is restored: undefined_table, undefined_function,
 * undefined_object, undefined_column, invalid_schema_name, insufficient_privilege (of objects whose owner is set next),
 * and feature_not_supported for a prepared statement whose result has changed.
 */
const SCHEMA_CODES = ['42P01', '42883', '42704', '42703', '3F000', '42501', '0A000'];
/** internal_error, where an object was dropped between the planning of a statement and its execution */
const INTERNAL_ERROR = 'XX000';
const DROPPED = /^(?:cache lookup failed for|could not open relation with OID|could not find )/;

/** Whether a statement of the service may have failed because the schema was not whole. */
export function isSchemaFailure(thrown: unknown): boolean {
  if (thrown instanceof IncompleteSchemaError) return true;
  if (!types.isNativeError(thrown)) return false;
  const { code = '', message } = driverErrorOf(thrown);
  return SCHEMA_CODES.includes(code) || (code === INTERNAL_ERROR && DROPPED.test(message));
}

/** Whether a statement waited for a lock longer than `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return driverErrorOf(error).code === LOCK_NOT_AVAILABLE;
}

/** Whether the server gave no response to a query: see `DatabaseClient`. */
export function isUnanswered(thrown: unknown): boolean {
  return driverErrorOf(thrown).message === 'Query read timeout';
}

/** The kind of a failure; `undefined` for any other error, such as an invalid statement. */
export function databaseFailure(thrown: unknown): DatabaseFailure | undefined {
  if (!types.isNativeError(thrown)) return undefined;
  if (thrown instanceof PoolOverloadedError) return 'overloaded';
  if (thrown instanceof PrimarySilentError || thrown instanceof NotPrimaryError) {
    return 'unreachable';
  }
  // One of its own connection, which lacks a password or a session of its own.
  if (thrown instanceof CommandError) return 'unreachable';
  const { code, severity, message } = driverErrorOf(thrown);
  if (code === QUERY_CANCELED || isUnanswered(thrown)) return 'timeout';
  if (code !== undefined && RETRYABLE_CODES.includes(code)) return 'conflict';
  if (code !== undefined && FOREIGN_SESSION.includes(code)) return 'unreachable';
  // Class 53: no connections, memory or disk space left.
  if (code?.startsWith('53')) return 'unreachable';
  // The administrator, a crash, or a limit of a session has ended the connection. Severities are translated.
  if (/^(57P|25P0[34])/.test(code ?? '')) return 'unreachable';
  // Errors of these severities end or prevent a connection. The statement is not the cause.
  if (severity === 'FATAL' || severity === 'PANIC') return 'unreachable';
  // Class 08: connections that the server itself opens, as for a foreign table.
  if (code?.startsWith('08')) return 'foreign';
  if (code !== undefined && UNREACHABLE.test(code)) return 'unreachable';
  // node-postgres sets no code for these.
  if (/^Connection terminated|not queryable$|^timeout expired$/.test(message)) {
    return 'unreachable';
  }
  if (message === 'timeout exceeded when trying to connect') return 'overloaded';
  return undefined;
}

/** An error of node-postgres: the fields of PostgreSQL, or the code of a socket error. */
interface DriverError {
  readonly message: string;
  readonly code?: string;
  readonly severity?: string;
  readonly detail?: string;
}

/** The driver error that TypeORM wrapped, or the thrown error itself. */
export function driverErrorOf(thrown: unknown): DriverError {
  const { driverError } = thrown as { driverError?: unknown };
  return (types.isNativeError(driverError) ? driverError : thrown) as DriverError;
}
