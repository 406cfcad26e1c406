import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import type { Client } from 'pg';
import { differences } from '#server/schema/differences.js';
import { SchemaCheck } from '#server/schema/schema-check.js';
import {
  connectedTo,
  createDatabase,
  queryOn,
  type TestDatabase,
} from '#server/testing/database.js';
import { migrate } from '#server/schema/migrate.js';
import { MIGRATIONS } from '../project.js';
import { logLines } from '../log-lines.js';
import { LINES } from '../deleted.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';

/** The user of the service, who has no rights but what belongs to it. */
const ROLE = `catalogue_${randomBytes(4).toString('hex')}`;

/** Gives everything in the database to the role, except for what extensions have: also the stand-ins of a project. */
const OWNED = `DO $do$ DECLARE object text; BEGIN
  FOR object IN
    WITH own AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$)')
    SELECT 'SCHEMA ' || oid::regnamespace FROM own
    UNION ALL SELECT format('%s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass) FROM pg_class
    WHERE relnamespace IN (SELECT oid FROM own) AND relkind IN ('r', 'v', 'S')
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i', 'e'))
    UNION ALL SELECT 'TYPE ' || oid::regtype FROM pg_type
    WHERE typnamespace IN (SELECT oid FROM own) AND typtype = 'e'
    UNION ALL SELECT 'ROUTINE ' || oid::regprocedure FROM pg_proc WHERE pronamespace IN (SELECT oid FROM own)
    AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
  LOOP
    EXECUTE format('ALTER %s OWNER TO ${ROLE}', object);
  END LOOP;
END $do$`;

let database: TestDatabase;
let administrator: Client;
let service: Service;
let logged: string[];

beforeAll(async () => {
  database = await createDatabase();
  administrator = await connectedTo(database.url);
  await asAdministrator(`CREATE ROLE ${ROLE} LOGIN PASSWORD '${ROLE}'`);
  await asAdministrator(`ALTER DATABASE ${administrator.database} OWNER TO ${ROLE}`);
  await asAdministrator('REVOKE ALL ON SCHEMA public FROM PUBLIC');
  await asAdministrator(OWNED);
  const url = new URL(database.url);
  url.username = url.password = ROLE;
  service = await startService({ DATABASE_URL: url.href });
});
afterAll(async () => {
  await service.stop();
  await administrator.end();
  await database.drop();
  await queryOn(process.env.TEST_SERVER_URL ?? '', `DROP ROLE ${ROLE}`);
});
beforeEach(() => {
  logged = logLines('error', 'warn');
});
afterEach(() => {
  jest.restoreAllMocks();
});

async function asAdministrator(sql: string): Promise<Record<string, unknown>[]> {
  return (await administrator.query<Record<string, unknown>>(sql)).rows;
}
const ready = () => service.anonymous().get('/health/ready');

/** What the service does not own in its schema. */
const ofOthers = () =>
  asAdministrator(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relowner <> '${ROLE}'::regrole
     UNION ALL SELECT oid::regprocedure::text FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proowner <> '${ROLE}'::regrole
     AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')`,
  );

const installAll = async () => {
  await asAdministrator(`SELECT install_tally('brands', 'brandID', '{}', '{nameOrder}')`);
  await asAdministrator(`SELECT remove_deletions('brands')`);
  await asAdministrator(`SELECT install_deletions('brands', 'brandID')`);
  await asAdministrator(`SELECT install_words('products', '{name,refID,description}')`);
};

it('What an administrator installs belongs to the owner of the table', async () => {
  expect(await ofOthers()).toEqual([]);
  // As where it has installed them by an earlier version.
  for (const kept of ['brands_tally', 'products_words']) {
    await asAdministrator(`ALTER FUNCTION keep_${kept}() OWNER TO CURRENT_USER`);
  }
  await asAdministrator('CREATE TEMP TABLE products (name text, description text, words tsvector)');
  await installAll();
  await asAdministrator('DROP TABLE pg_temp.products');
  expect(await ofOthers()).toEqual([]);
  // It is left in the role that it had.
  expect(await asAdministrator('SELECT current_user = session_user AS same')).toEqual([
    { same: true },
  ]);
  await service.load('brands', [{ brandID: 'b', name: 'B' }]);
  const { body } = await service.get('/brands').expect(200);
  expect(body.response_data.count).toBe('1');
});

it('A member of the role of the service, which inherits no rights, installs in that role', async () => {
  const member = `${ROLE}_member`;
  await asAdministrator(`CREATE ROLE ${member} NOINHERIT IN ROLE ${ROLE}`);
  await asAdministrator(`SET SESSION AUTHORIZATION ${member}`);
  try {
    await asAdministrator(`SET ROLE ${ROLE}`);
    await installAll();
    expect(await asAdministrator('SELECT current_user AS role')).toEqual([{ role: ROLE }]);
  } finally {
    await asAdministrator('RESET SESSION AUTHORIZATION');
    await asAdministrator(`DROP ROLE ${member}`);
  }
  expect(await ofOthers()).toEqual([]);
});

it.each(['tallies', 'searches'])(
  'A service that may not read %s cannot be compared, and is told what gives it the table',
  async (table) => {
    await asAdministrator(`ALTER TABLE ${table} OWNER TO CURRENT_USER`);
    const [{ owner }] = (await asAdministrator('SELECT current_user AS owner')) as [
      { owner: string },
    ];
    const remedy = `ALTER TABLE "${table}" OWNER TO "${ROLE}"`;
    await expect(differences(service.dataSource)).rejects.toThrow(
      `the user ${ROLE} may not read and write ${table}, which belongs to ${owner}; run ${remedy}`,
    );
    await asAdministrator(remedy);
    expect(await differences(service.dataSource)).toEqual([]);
  },
);

const migrateAs = (url: string) => {
  const declared = () => Promise.resolve(service.dataSource);
  return migrate(url, { migrations: MIGRATIONS, declared });
};

it.each([
  ['products', 'CREATE', 'lacking words', `SELECT remove_words('products')`],
  ['products', 'ALL', 'lacking words', `SELECT remove_words('products')`],
  ['products', 'ALL', 'other functions', `UPDATE engine SET digest = '' WHERE name = 'functions'`],
  ['engine', 'ALL', 'lacking words', `SELECT remove_words('products')`],
])('A migration says whom %s belongs to, who has %s on the schema, with %s', async (...row) => {
  const [table, privileges, , cause] = row;
  const other = `${ROLE}_other`;
  await asAdministrator(`CREATE ROLE ${other}; ${cause}`);
  await asAdministrator(`ALTER TABLE ${table} OWNER TO ${other}`);
  await asAdministrator(`GRANT ${privileges} ON SCHEMA public TO ${other}`);
  // The comparison of the tables needs no more.
  await asAdministrator(`GRANT SELECT ON products TO ${ROLE}`);
  const url = table === 'products' ? database.url : service.database.url;
  try {
    await expect(migrateAs(url)).rejects.toThrow(`belongs to ${other}`);
    await expect(migrateAs(url)).rejects.toThrow(`; run ALTER TABLE "${table}" OWNER TO "${ROLE}"`);
    await asAdministrator(`ALTER TABLE ${table} OWNER TO ${ROLE}`);
    await migrateAs(url);
    expect(await differences(service.dataSource)).toEqual([]);
  } finally {
    await asAdministrator(
      `REASSIGN OWNED BY ${other} TO ${ROLE}; DROP OWNED BY ${other}; DROP ROLE ${other}`,
    );
  }
});

it.each([
  ['/brands?limit=*', 'brands_tally', '*/*'],
  ['/changes?resources=brands&since=9999-12-31T00:00:0*Z', 'brands_deletions', LINES.Accept],
  ['/categories?limit=*', 'resource_versions', '*/*'],
])('A service that may not read what %s needs is not ready', async (path, table, accept) => {
  const get = (at: string) => service.get(path.replace('*', at)).set('Accept', accept);
  const [{ owner }] = (await asAdministrator('SELECT current_user AS owner')) as [
    { owner: string },
  ];
  await service.application.get(SchemaCheck).start();
  await get('1').expect(200);
  await ready().expect(200);
  await asAdministrator(`ALTER TABLE ${table} OWNER TO ${owner}`);
  // Not from the page cache.
  await get('2').expect(503, refusal(-2, 'The service is temporarily unavailable'));
  await ready().expect(503, { status: 'unavailable', reason: 'schema' });
  const remedy = `ALTER TABLE "${table}" OWNER TO "${ROLE}"`;
  expect(logged).toContain(
    'The database does not match the entities: ' +
      `the user ${ROLE} may not read and write ${table}, which belongs to ${owner}; run ${remedy}`,
  );
  await asAdministrator(remedy);
  await until(async () => (await ready()).status === 200);
  await get('2').expect(200);
});
