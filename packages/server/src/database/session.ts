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

/**
 * The statements that prepare a session.
 *
 * @param statementTimeout milliseconds that a statement may run; 0 for no limit
 * @param options those of the URL, such as `-c jit=on`
 */
export function sessionStatement(statementTimeout: number, options = ''): string {
  // As `-c jit=on`, `-cjit=on` or `--jit=on`. PostgreSQL takes hyphens for underscores.
  const given = [...options.matchAll(/(?:^|\s)(?:-c\s*|--)([\w-]+)=/g)].map(([, name = '']) =>
    name.toLowerCase().replaceAll('-', '_'),
  );
  const preferences = Object.entries(PREFERENCES).filter(([name]) => !given.includes(name));
  const values = [
    ...Object.entries(SETTINGS),
    ...preferences,
    ['statement_timeout', String(statementTimeout)],
  ].map(([name, value]) => `('${name}', '${value}')`);
  // A limit of the role must not end the statement that lifts it.
  return `SET statement_timeout = 0; SELECT set_config(name, value, false)
    FROM (VALUES ${values.join(', ')}, ('search_path', ${SEARCH_PATH})) AS setting(name, value)
    WHERE current_setting(name, true) IS NOT NULL`;
}
