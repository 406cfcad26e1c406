import { escapeLiteral } from 'pg';

/**
 * What every connection of the service sets before its first statement, whatever the server, the database, the role and the
 * URL have set. It does so by a statement: a pooler may drop what a connection asks for when it starts.
 *
 * @see https://www.postgresql.org/docs/current/runtime-config-client.html
 */
const SETTINGS = {
  // What values look like. The driver reads a time of any other style as null.
  DateStyle: 'ISO, MDY',
  IntervalStyle: 'postgres',
  TimeZone: 'UTC',
  extra_float_digits: '1',
  bytea_output: 'hex',
  // What statements mean, and how PostgreSQL prints definitions, which are compared with the entities.
  standard_conforming_strings: 'on',
  quote_all_identifiers: 'off',
  array_nulls: 'on',
  transform_null_equals: 'off',
  gin_fuzzy_search_limit: '0',
  default_transaction_isolation: 'read committed',
  // A list rests while its reader is slow, an import while its file is, and a migration waits by itself.
  lock_timeout: '0',
  idle_session_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  // From PostgreSQL 17.
  transaction_timeout: '0',
};

/** What a connection also sets, unless the options of the URL do. */
const PREFERENCES = {
  // The planner overestimates short queries whose values it does not know; JIT would slow them. So
  // would parallel workers, which take milliseconds to start: only a scan of a million rows is worth them.
  jit: 'off',
  parallel_setup_cost: '20000',
};

/**
 * The schemas that the role, the database or the URL names. First comes the one with the tables of the service, so that
 * new ones belong to it. Where no schema of the path exists, it is `public`.
 */
const SEARCH_PATH = `concat_ws(', ', coalesce(
    (SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = to_regclass('resource_versions')),
    quote_ident(nullif(current_schema(), 'pg_catalog')), 'public'
  ), nullif(current_setting('search_path'), ''))`;

/** A setting as in `-c jit=on`, `-cjit=on` or `--jit=on`. A backslash stands before a space of the value. */
const OPTION = /(?:^|(?<=\s))(?:-c\s*|--)([\w.-]+)=((?:\\.|[^\s\\])*)/gs;

/** Divides options of a URL into the settings among them, and the rest. */
export function optionsOf(options = ''): { settings: [string, string][]; rest: string } {
  const settings = [...options.matchAll(OPTION)].map(
    ([, name = '', value = '']): [string, string] => [
      // PostgreSQL takes hyphens for underscores.
      name.toLowerCase().replaceAll('-', '_'),
      value.replace(/\\(.)/gs, '$1'),
    ],
  );
  return { settings, rest: options.replace(OPTION, '').trim() };
}

const MARK = `current_setting('catalogue.session', true) AS mark`;

/**
 * The statements that prepare a session. The first has the `mark` of the connection that had this session before, and
 * left it as it was: null or empty, unless a pooler lets connections share it.
 *
 * @param statementTimeout milliseconds that a statement may run; 0 for no limit
 * @param given the settings of the URL
 * @param mark of the connection
 */
export function sessionStatement(
  statementTimeout: number,
  given: readonly [string, string][],
  mark: string,
): string {
  const names = given.map(([name]) => name);
  const settings = [
    ...Object.entries(SETTINGS),
    ...Object.entries(PREFERENCES).filter(([name]) => !names.includes(name)),
    ['statement_timeout', String(statementTimeout)],
  ].map(([name, value]) => `('${name}', '${value}')`);
  const first = [['catalogue.session', mark], ...given].map(
    ([name = '', value = '']) =>
      `SELECT set_config(${escapeLiteral(name)}, ${escapeLiteral(value)}, false);`,
  );
  // A limit of the role must not end the statement that lifts it.
  return `SELECT ${MARK}; SET statement_timeout = 0; ${first.join(' ')}
    SELECT set_config(name, value, false)
    FROM (VALUES ${settings.join(', ')}, ('search_path', ${SEARCH_PATH})) AS setting(name, value)
    WHERE current_setting(name, true) IS NOT NULL`;
}

/** What a session reports of its server. */
export interface SessionServer {
  /**
   * Differs after a restart, a promotion or a failover, if another database has taken the name, and where new transactions
   * become read-only or writable: open connections may keep what they began with.
   */
  readonly identity: string;
  readonly database: number;
  /** Host and port as the server has them; behind a proxy they differ from those of the URL. */
  readonly address: string;
  readonly startedAt: string;
  /** 0 on a standby. */
  readonly timeline: number;
  readonly isStandby: boolean;
  /** Whether new transactions are read-only: an operator sets it, or a managed service whose disk is full. */
  readonly isReadOnly: boolean;
}

/** A session that is prepared. */
export interface Session extends SessionServer {
  /** The process that serves it. What a pooler reports at the start is a number of its own. */
  readonly processID: number;
  readonly mark: string | null;
}

/** Selects the only row of `Session`. */
export const SESSION_STATEMENT = `SELECT *, concat_ws('/', "startedAt", timeline, database, "isReadOnly") AS identity
  FROM (SELECT pg_backend_pid() AS "processID", ${MARK},
      coalesce(host(inet_server_addr()), 'socket') || ':' || current_setting('port') AS address,
      to_char(pg_postmaster_start_time(), 'YYYY-MM-DD"T"HH24:MI:SS.USOF') AS "startedAt",
      CASE WHEN pg_is_in_recovery() THEN 0
        ELSE ('x' || left(pg_walfile_name(pg_current_wal_flush_lsn()), 8))::bit(32)::integer END AS timeline,
      pg_is_in_recovery() AS "isStandby",
      current_setting('default_transaction_read_only')::boolean AS "isReadOnly",
      (SELECT oid FROM pg_database WHERE datname = current_database()) AS database) AS server`;
