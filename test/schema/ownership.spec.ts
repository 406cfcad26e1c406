import { afterAll, afterEach, beforeAll, beforeEach, expect, it, jest } from '@jest/globals';
import { differences } from '../../src/schema/differences.js';
import { SchemaCheck } from '../../src/schema/schema-check.js';
import { startTracked, TRACK, type TrackedService } from '../list/tracked.fixture.js';
import { logLines } from '../log-lines.js';
import { refusal } from '../service.js';
import { until } from '../until.js';

let service: TrackedService;
let logged: string[];

beforeAll(async () => {
  service = await startTracked();
});
afterAll(() => service.stop());
beforeEach(() => {
  logged = logLines('error', 'warn');
});
afterEach(() => {
  jest.restoreAllMocks();
});

const asAdministrator = async (sql: string) =>
  (await service.administrator.query<Record<string, unknown>>(sql)).rows;
const ready = () => service.anonymous().get('/health/ready');

/** What the service does not own in its schema. */
const ofOthers = () =>
  asAdministrator(
    `SELECT relname AS name FROM pg_class
     WHERE relnamespace = 'public'::regnamespace AND relowner <> '${service.roles.service}'::regrole
     UNION ALL SELECT oid::regprocedure::text FROM pg_proc
     WHERE pronamespace = 'public'::regnamespace AND proowner <> '${service.roles.service}'::regrole
     AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')`,
  );

const installAll = async () => {
  await asAdministrator(`SELECT install_tally('brands', 'brandID', '{}', '{name}')`);
  await asAdministrator(`SELECT remove_deletions('brands')`);
  await asAdministrator(`SELECT install_deletions('brands', 'brandID')`);
  await asAdministrator(`SELECT install_words('products', '{name,description}')`);
  for (const [resource, statement] of Object.entries(TRACK)) {
    await asAdministrator(`SELECT untrack_table('${resource}')`);
    await asAdministrator(statement);
  }
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
  const { service: role } = service.roles;
  const member = `${role}_member`;
  await asAdministrator(`CREATE ROLE ${member} NOINHERIT IN ROLE ${role}`);
  await asAdministrator(`SET SESSION AUTHORIZATION ${member}`);
  try {
    await asAdministrator(`SET ROLE ${role}`);
    await installAll();
    expect(await asAdministrator('SELECT current_user AS role')).toEqual([{ role }]);
  } finally {
    await asAdministrator('RESET SESSION AUTHORIZATION');
    await asAdministrator(`DROP ROLE ${member}`);
  }
  expect(await ofOthers()).toEqual([]);
});

it.each(['tallies', 'searches'])(
  'A service that may not read %s cannot be compared, and is told what gives it the table',
  async (table) => {
    const { service: role } = service.roles;
    await asAdministrator(`ALTER TABLE ${table} OWNER TO CURRENT_USER`);
    const [{ owner }] = (await asAdministrator('SELECT current_user AS owner')) as [
      { owner: string },
    ];
    const remedy = `ALTER TABLE "${table}" OWNER TO "${role}"`;
    await expect(differences(service.dataSource)).rejects.toThrow(
      `the user ${role} may not read and write ${table}, which belongs to ${owner}; run ${remedy}`,
    );
    await asAdministrator(remedy);
    expect(await differences(service.dataSource)).toEqual([]);
  },
);

it.each([
  ['/brands?limit=', 'brands_tally'],
  ['/deletions/brands?deletedSince=9999-12-31T00:00:00Z&limit=', 'brands_deletions'],
  ['/categories?limit=', 'resource_versions'],
])('A service that may not read what %s needs is not ready', async (path, table) => {
  const [{ owner }] = (await asAdministrator('SELECT current_user AS owner')) as [
    { owner: string },
  ];
  await service.application.get(SchemaCheck).start();
  await service.get(`${path}1`).expect(200);
  await ready().expect(200);
  await asAdministrator(`ALTER TABLE ${table} OWNER TO ${owner}`);
  // Not from the page cache.
  await service.get(`${path}2`).expect(503, refusal(-2, 'The service is temporarily unavailable'));
  await ready().expect(503, { status: 'unavailable', reason: 'schema' });
  const remedy = `ALTER TABLE "${table}" OWNER TO "${service.roles.service}"`;
  expect(logged).toContain(
    'The database does not match the entities: ' +
      `the user ${service.roles.service} may not read and write ${table}, which belongs to ${owner}; run ${remedy}`,
  );
  await asAdministrator(remedy);
  await until(async () => (await ready()).status === 200);
  await service.get(`${path}2`).expect(200);
});
