import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Client } from 'pg';
import { dropSurplusResource } from '../../src/cli/drop-resource.js';
import { Maintenance } from '../../src/list/maintenance.js';
import { describeTable } from '../../src/schema/describe-table.js';
import { differences } from '../../src/schema/differences.js';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import { SchemaCheck } from '../../src/schema/schema-check.js';
import { findViolations } from '../../src/verify/verify.js';
import { logLines } from '../log-lines.js';
import { Random } from '../random.js';
import { refusal } from '../service.js';
import { until } from '../until.js';
import { describeList } from './list-contract.js';
import { compareFacets, comparePage, equals, type PlainResource } from './oracle.js';
import { inAnyOrder, ownerWrites } from './tracked-writes.js';
import {
  fillAsOwner,
  startTracked,
  TRACK,
  TRACKED,
  type TrackedService,
  WARES,
} from './tracked.fixture.js';

for (const entity of WARES.values()) {
  describeList(entity, {
    start: () => startTracked(),
    fill: (service, ...of) => fillAsOwner(service as TrackedService, ...of),
    asOwner: (service, sql) => (service as TrackedService).owner.query(sql),
    fields: ['ware_id', 'state', 'active', 'shelf', 'price'],
    sorts: ['ware_id', 'state', 'price'],
    values: {
      // As its column stores it.
      price: (at) => (at % 5 === 0 ? null : `${(at % 4) - 2}.50`),
      // A trigger of the owner sets a negative one to null.
      shelf: (at) => (at % 5 === 0 ? null : at % 4),
    },
  });
}

describe('A service that tracks tables of others', () => {
  let service: TrackedService;

  beforeAll(async () => {
    service = await startTracked();
  });
  afterAll(() => service.stop());

  const own = (sql: string) => service.dataSource.query<Record<string, unknown>[]>(sql);
  const asOwner = async (sql: string) =>
    (await service.owner.query<Record<string, unknown>>(sql)).rows;
  const texts = async () => (await differences(service.dataSource)).map(({ text }) => text);
  const track = async () => {
    for (const statement of Object.values(TRACK)) await own(statement);
  };

  it('finds nothing off, and writes no migration', async () => {
    expect(await findViolations(service.application)).toEqual([]);
    expect(await migrationChanges(service.dataSource)).toEqual({ up: [], down: [] });
  });

  it('adds nothing to a table but its triggers, and removes them again', async () => {
    const described = () =>
      asOwner(
        `SELECT format('%s %s %s', attrelid::regclass, attname, atttypid::regtype) AS line FROM pg_attribute
         WHERE attrelid IN (SELECT oid FROM pg_class WHERE relnamespace = '"Shop"'::regnamespace) AND attnum > 0
         UNION ALL SELECT pg_get_indexdef(oid) FROM pg_class WHERE relnamespace = '"Shop"'::regnamespace AND relkind IN ('i', 'I')
         UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = '"Shop"'::regnamespace
         UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
         WHERE relnamespace = '"Shop"'::regnamespace
         UNION ALL SELECT format('%s %s', oid::regclass, relacl) FROM pg_class WHERE relnamespace = '"Shop"'::regnamespace
         ORDER BY line`,
      );
    const tables = () =>
      own(`SELECT relname FROM pg_class WHERE relname ~ '^test_.*_(tally|deletions)' ORDER BY 1`);
    const tracked = await described();
    expect(await tables()).not.toEqual([]);
    for (const resource of Object.keys(TRACKED)) await own(`SELECT untrack_table('${resource}')`);
    const plain = await described();
    const isTrigger = ({ line }: Record<string, unknown>) =>
      / EXECUTE FUNCTION public.keep_test_/.test(String(line));
    expect(plain).toEqual(tracked.filter((each) => !isTrigger(each)));
    // Eight of a table; of a partitioned one the same but for the deletions by TRUNCATE; nine of each of its partitions.
    expect(tracked.filter(isTrigger)).toHaveLength(8 + 7 + 2 * 9);
    expect(await tables()).toEqual([]);
    expect(await texts()).toEqual([
      '"Shop"."wares" is not tracked',
      '"Shop"."parted_wares" is not tracked',
    ]);
    const { up, down } = await migrationChanges(service.dataSource);
    expect(up).toEqual(Object.values(TRACK));
    expect(down).toEqual(
      Object.keys(TRACKED)
        .map((resource) => `SELECT untrack_table('${resource}')`)
        .reverse(),
    );
    await track();
    expect(await described()).toEqual(tracked);
  });

  it.each(Object.entries(TRACKED))(
    'counts what its owner writes into %s',
    async (resource, table) => {
      const random = new Random(`tracked ${table}`);
      const wares: PlainResource = {
        path: `/${resource}`,
        table: `"Shop".${table}`,
        identifier: 'ware_id',
        sorts: [],
        filters: {
          state: equals('state', []),
          shelf: equals('shelf', []),
          active: equals('active', []),
        },
      };
      for (const statement of inAnyOrder(random, table)) {
        const before = await service.get(`/${resource}?limit=1000`).expect(200);
        const again = await service
          .get(`/${resource}?limit=1000`)
          .set('If-None-Match', String(before.headers.etag));
        expect(again.status).toBe(304);
        await asOwner(statement);
        const rows = await asOwner(
          `SELECT ware_id::text, state, active, shelf, price::text FROM "Shop".${table} ORDER BY ${table}.ware_id`,
        );
        const after = await service
          .get(`/${resource}?limit=1000`)
          .set('If-None-Match', String(before.headers.etag));
        const shown = (after.status === 304 ? before : after).body.response_data;
        expect([statement, shown]).toEqual([
          statement,
          { count: String(rows.length), objects: rows },
        ]);
        for (const filter of ['state=new', 'shelf=1,2', 'state=new&active=true']) {
          const request = Object.fromEntries(new URLSearchParams(filter));
          await comparePage(service, wares, request);
        }
        await compareFacets(service, wares, ['shelf'], { facets: 'shelf' });
      }
      expect(await findViolations(service.application)).toEqual([]);
    },
  );

  it('shows one snapshot, and no stale page, while its owner writes', async () => {
    const maintenance = service.application.get(Maintenance);
    maintenance.start();
    const end = performance.now() + 1500;
    const writers = [1, 2, 3].map(async (writer) => {
      const random = new Random(`tracked writer ${writer}`);
      const client = new Client(service.ownerUrl);
      await client.connect();
      while (performance.now() < end) {
        const table = random.pick(Object.values(TRACKED));
        // Of two writers who wait for each other, PostgreSQL ends one. None of them can update a row that another one
        // has moved to another partition.
        await client
          .query(random.pick(ownerWrites(random, table)))
          .catch(async (error: unknown) => {
            expect((error as { code: string }).code).toMatch(/^(40P01|23505|40001)$/);
            await client.query('ROLLBACK');
          });
      }
      await client.end();
    });
    const readers = Object.entries(TRACKED).map(async ([resource, table]) => {
      const [key, literal] = table === 'wares' ? ['mine', "'mine'"] : ['5000', '5000'];
      let etag = '';
      // No other writer writes such a shelf.
      for (let shelf = 1000; performance.now() < end; shelf += 1) {
        for (const filter of ['', 'state=new', 'shelf=1']) {
          const { body } = await service.get(`/${resource}?limit=1000&${filter}`).expect(200);
          expect(body.response_data.objects).toHaveLength(Number(body.response_data.count));
        }
        await service.owner.query(
          `INSERT INTO "Shop".${table} (ware_id, state, shelf) VALUES (${literal}, 'new', ${shelf})
           ON CONFLICT (ware_id) DO UPDATE SET shelf = excluded.shelf`,
        );
        const { text, headers } = await service
          .get(`/${resource}?ware_id=${key}`)
          .set('If-None-Match', etag)
          .expect(200);
        expect(text).not.toContain(`"shelf":${shelf - 1}`);
        etag = String(headers.etag);
      }
    });
    await Promise.all([...writers, ...readers]);
    await until(() => maintenance.rounds.done > 2);
    expect(maintenance.hasFault).toBe(false);
    expect(await findViolations(service.application)).toEqual([]);
  });

  it.each([
    [
      'a disabled trigger',
      'ALTER TABLE "Shop".wares DISABLE TRIGGER test_wares_tally_insert',
      'the trigger test_wares_tally_insert on "Shop".wares is disabled',
    ],
    [
      'triggers that were disabled for a while, as a restore of data does',
      `ALTER TABLE "Shop".wares DISABLE TRIGGER USER; INSERT INTO "Shop".wares (ware_id, state) VALUES ('uncounted', 'new');
       ALTER TABLE "Shop".wares ENABLE TRIGGER USER`,
      'a trigger of test_wares on "Shop"."wares" was disabled for a while, or a partition attached or detached, so that its tally may be wrong',
    ],
    [
      'a dropped trigger',
      'DROP TRIGGER test_wares_tally_truncate ON "Shop".wares',
      '"Shop".wares has no trigger test_wares_tally_truncate',
    ],
    [
      'a partition without triggers',
      `ALTER TABLE "Shop".parted_wares DETACH PARTITION "Shop".high_wares;
       CREATE TABLE "Shop".new_wares PARTITION OF "Shop".parted_wares FOR VALUES FROM (1000) TO (MAXVALUE);
       GRANT SELECT, TRIGGER ON "Shop".new_wares TO @service`,
      '"Shop".new_wares has no trigger test_parted_wares_changes_delete, test_parted_wares_changes_insert, test_parted_wares_changes_route, test_parted_wares_changes_truncate, test_parted_wares_changes_update, test_parted_wares_tally_delete, test_parted_wares_tally_insert, test_parted_wares_tally_truncate, test_parted_wares_tally_update',
    ],
    [
      'a partition that was detached',
      'ALTER TABLE "Shop".parted_wares DETACH PARTITION "Shop".new_wares',
      'a trigger of test_parted_wares on "Shop"."parted_wares" was disabled for a while, or a partition attached or detached, so that its tally may be wrong',
    ],
    [
      'a partition that the service may not read',
      `ALTER TABLE "Shop".parted_wares ATTACH PARTITION "Shop".high_wares FOR VALUES FROM (1000) TO (MAXVALUE);
       REVOKE SELECT ON "Shop".high_wares FROM @service`,
      'the user @service may not track "Shop"."parted_wares"; its owner must run GRANT SELECT ON "Shop".high_wares TO @service',
      'GRANT SELECT ON "Shop".high_wares TO @service',
    ],
    [
      'rows that the service does not see',
      'ALTER TABLE "Shop".wares ENABLE ROW LEVEL SECURITY',
      'row security hides rows of "Shop"."wares" from the user @service, which a tally would count',
      'ALTER TABLE "Shop".wares DISABLE ROW LEVEL SECURITY',
    ],
    [
      'another table of the same name',
      `CREATE TABLE "Shop".other (LIKE "Shop".wares INCLUDING ALL); DROP TABLE "Shop".wares;
       ALTER TABLE "Shop".other RENAME TO wares; GRANT SELECT, TRIGGER ON "Shop".wares TO @service;
       INSERT INTO "Shop".wares (ware_id, state) VALUES ('other', 'new')`,
      '"Shop".wares has no trigger test_wares_changes_delete, test_wares_changes_insert, test_wares_changes_truncate, test_wares_changes_update, test_wares_tally_delete, test_wares_tally_insert, test_wares_tally_truncate, test_wares_tally_update',
    ],
    [
      'a column that was dropped and added again',
      `BEGIN; ALTER TABLE "Shop".wares DROP shelf; ALTER TABLE "Shop".wares ADD shelf integer DEFAULT 3; COMMIT;
       ALTER TABLE "Shop".wares ALTER shelf DROP DEFAULT; CREATE INDEX ON "Shop".wares (shelf)`,
      'the column shelf of "Shop"."wares" was dropped and added again, or has another type or collation',
    ],
    [
      'an identifier of another collation',
      'ALTER TABLE "Shop".wares ALTER ware_id TYPE text COLLATE "POSIX"',
      'the column ware_id of "Shop"."wares" was dropped and added again, or has another type or collation',
    ],
  ])('finds %s, until the table is tracked anew', async (_, change, text, back = 'SELECT') => {
    const named = (sql: string) => sql.replaceAll('@service', service.roles.service);
    const parted = /parted|new_wares|high_wares/.test(text);
    const resource = parted ? 'test_parted_wares' : 'test_wares';
    await asOwner(named(change));
    expect(await texts()).toEqual([named(text)]);
    await asOwner(named(back));
    await own(TRACK[resource]);
    expect(await findViolations(service.application)).toEqual([]);
    const rows = await asOwner(`SELECT count(*) FROM "Shop".${TRACKED[resource]}`);
    const { body } = await service.get(`/${resource}?limit=0`).expect(200);
    expect(body.response_data.count).toBe(rows[0]?.count);
  });

  it('finds values of an enumeration that were renamed, and none that was added', async () => {
    const rename = (former: string, label: string) =>
      asOwner(`ALTER TYPE "Shop".state RENAME VALUE '${former}' TO '${label}'`);
    const swap = async () => {
      await rename('new', 'other');
      await rename('sold out', 'new');
      await rename('other', 'sold out');
    };
    await swap();
    const ofTable = (table: string) =>
      `the value new in "Shop"."${table}" was renamed to sold out, the value sold out in "Shop"."${table}" was renamed to new`;
    expect(await texts()).toEqual(Object.values(TRACKED).map(ofTable));
    await track();
    expect(await findViolations(service.application)).toEqual([]);
    await swap();
    await track();
    await asOwner(`ALTER TYPE "Shop".state ADD VALUE 'lent'`);
    // The entities do not have it yet.
    expect(await texts()).toEqual(
      Object.values(TRACKED).map(
        (table) => `the column state may also be lent in "Shop"."${table}"`,
      ),
    );
    const intact = await own(
      `SELECT FROM tallies WHERE tracked ~ '^"Shop"' AND is_tracking_intact(resource)`,
    );
    expect(intact).toHaveLength(2);
    // No ALTER TYPE takes a value back.
    await asOwner('ALTER TYPE "Shop".state RENAME TO former_state');
    await asOwner(`CREATE TYPE "Shop".state AS ENUM ('new', 'sold out')`);
    for (const table of Object.values(TRACKED)) {
      await asOwner(
        `ALTER TABLE "Shop".${table} ALTER state TYPE "Shop".state USING state::text::"Shop".state`,
      );
    }
    expect(await texts()).toEqual(
      Object.values(TRACKED).map(
        (table) =>
          `the column state of "Shop"."${table}" was dropped and added again, or has another type or collation`,
      ),
    );
    await track();
    expect(await texts()).toEqual([]);
  });

  it('notices by itself that its triggers were disabled for a while, and is not ready', async () => {
    const logged = logLines('error', 'warn');
    const ready = () => service.anonymous().get('/health/ready');
    await service.application.get(SchemaCheck).start();
    await ready().expect(200);
    await asOwner(
      `ALTER TABLE "Shop".wares DISABLE TRIGGER USER; INSERT INTO "Shop".wares (ware_id, state) VALUES ('missed', 'new');
       ALTER TABLE "Shop".wares ENABLE TRIGGER USER`,
    );
    await until(async () => (await ready()).status === 503);
    await service
      .get('/test_wares')
      .expect(503, refusal(-2, 'The service is temporarily unavailable'));
    await service.get('/test_parted_wares').expect(200);
    expect(logged.at(-1)).toBe(
      `The database does not match the entities: a trigger of test_wares on "Shop"."wares" was disabled for a while, or a partition attached or detached, so that its tally may be wrong; run ${TRACK.test_wares}, which counts anew`,
    );
    await own(TRACK.test_wares);
    await until(async () => (await ready()).status === 200);
    jest.restoreAllMocks();
  });

  it('verifies the counts, which a session that fires no triggers can make wrong', async () => {
    const { administrator } = service;
    await administrator.query(
      `BEGIN; SET LOCAL session_replication_role = replica;
       INSERT INTO "Shop".wares (ware_id, state) VALUES ('unseen', 'new'); COMMIT`,
    );
    expect(await findViolations(service.application)).toEqual([
      expect.stringMatching(
        /^the tally of test_wares has \d+ for all from the first, where there are \d+$/,
      ),
      expect.stringMatching(/^the tally of test_wares has \d+ for state=new from the first, /),
      '1 test_wares have no time of their last change: run SELECT track_table(…) again',
    ]);
    await own(TRACK.test_wares);
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('lets no write of the owner through that it cannot count', async () => {
    await own('ALTER TABLE test_wares_tally_deltas RENAME TO elsewhere');
    await expect(asOwner('DELETE FROM "Shop".wares')).rejects.toThrow(
      'relation "public.test_wares_tally_deltas" does not exist',
    );
    await own('ALTER TABLE elsewhere RENAME TO test_wares_tally_deltas');
  });

  it('counts no column in which different texts are equal', async () => {
    await asOwner('ALTER TABLE "Shop".wares ADD code char(2)');
    await expect(
      own(`SELECT track_table('coded_wares', '"Shop"."wares"', 'ware_id', '{state+code}')`),
    ).rejects.toThrow('The column code of "Shop"."wares" cannot be counted');
    await asOwner('ALTER TABLE "Shop".wares DROP code');
  });

  it('goes on when it may create no further triggers', async () => {
    await asOwner(`REVOKE TRIGGER ON "Shop".wares FROM ${service.roles.service}`);
    expect(await texts()).toEqual([]);
    await expect(own(TRACK.test_wares)).rejects.toThrow('GRANT TRIGGER ON "Shop".wares');
    await asOwner(`GRANT TRIGGER ON "Shop".wares TO ${service.roles.service}`);
  });

  it('drops what a resource that the code has not installed, and never the table', async () => {
    await expect(dropSurplusResource(service.dataSource, 'test_wares', true)).rejects.toThrow(
      'test_wares lists "Shop"."wares", a table of others, which the service never drops',
    );
    // It counts nothing by value.
    await own(`SELECT track_table('lost_wares', '"Shop"."wares"', 'ware_id')`);
    await asOwner(
      `UPDATE "Shop".wares SET state = 'new'; DELETE FROM "Shop".wares WHERE ware_id = 'other'`,
    );
    expect(await texts()).toEqual([
      'the database has the resource lost_wares, which the code has not',
    ]);
    await dropSurplusResource(service.dataSource, 'lost_wares', false);
    expect(await texts()).toEqual([]);
    expect(await asOwner(`SELECT FROM pg_proc WHERE proname ~ 'lost_wares'`)).toEqual([]);
    expect(await asOwner('SELECT FROM "Shop".wares LIMIT 1')).toHaveLength(1);
  });
});

describe('A service that may not track a table', () => {
  let service: TrackedService;

  beforeAll(async () => {
    service = await startTracked({ isGranted: false });
  });
  afterAll(() => service.stop());

  it('says by name what its owner must grant, before it installs anything', async () => {
    const { roles, dataSource, owner } = service;
    const describe = () => describeTable(dataSource, '"Shop"."parted_wares"', { track: true });
    const steps = [
      [`GRANT USAGE ON SCHEMA "Shop"`, `permission denied for schema Shop`],
      [
        `GRANT SELECT ON "Shop".parted_wares`,
        'The user of the settings may not read Shop.parted_wares: GRANT SELECT on it',
      ],
      [
        'GRANT TRIGGER ON "Shop".parted_wares',
        `the user ${roles.service} may not track "Shop"."parted_wares"; its owner must run GRANT TRIGGER ON "Shop".parted_wares TO ${roles.service}; GRANT SELECT, TRIGGER ON "Shop".low_wares TO ${roles.service}; GRANT SELECT, TRIGGER ON "Shop".high_wares TO ${roles.service}`,
      ],
      [
        'GRANT SELECT, TRIGGER ON "Shop".low_wares',
        `GRANT SELECT, TRIGGER ON "Shop".low_wares TO ${roles.service}; GRANT SELECT, TRIGGER ON "Shop".high_wares TO ${roles.service}`,
      ],
      ['GRANT SELECT, TRIGGER ON "Shop".high_wares', 'GRANT SELECT, TRIGGER ON "Shop".high_wares'],
    ] as const;
    for (const [grant, message] of steps) {
      await expect(describe()).rejects.toThrow(message);
      await expect(dataSource.query(TRACK.test_parted_wares)).rejects.toThrow('may not track');
      await owner.query(`${grant} TO ${roles.service}`);
    }
    expect((await describe()).tracked).toBe(true);
    const { rows } = await owner.query(`SELECT FROM pg_trigger WHERE tgname ~ '^test_'`);
    expect(rows).toEqual([]);
    expect((await differences(dataSource)).map(({ text }) => text)).toContain(
      '"Shop"."parted_wares" is not tracked',
    );
  });

  it('records what it would track while there is no such table, and says so', async () => {
    const { dataSource } = service;
    await service.grant();
    await dataSource.query(TRACK.test_parted_wares);
    await service.owner.query('ALTER TABLE "Shop".wares RENAME TO hidden');
    await dataSource.query(TRACK.test_wares);
    const texts = async () => (await differences(dataSource)).map(({ text }) => text);
    expect(await texts()).toEqual(['there is no "Shop"."wares", which Trackedtest_wares lists']);
    await service.owner.query('ALTER TABLE "Shop".hidden RENAME TO wares');
    expect((await texts())[0]).toContain('"Shop".wares has no trigger');
    await dataSource.query(TRACK.test_wares);
    expect(await texts()).toEqual([]);
  });

  it.each([
    [
      'CREATE VIEW "Shop".it AS SELECT * FROM "Shop".wares',
      'is a view: only a table can be tracked',
    ],
    [
      'CREATE MATERIALIZED VIEW "Shop".it AS SELECT * FROM "Shop".wares',
      'is a materialized view: only a table can be tracked',
    ],
    ['CREATE UNLOGGED TABLE "Shop".it (id integer PRIMARY KEY)', 'is not logged'],
    [
      'CREATE TABLE "Shop".it (PRIMARY KEY (ware_id)) INHERITS ("Shop".wares)',
      'is a part of "Shop".wares, whose writes fire no trigger of it',
    ],
    [
      'CREATE TABLE "Shop".it (id integer PRIMARY KEY); CREATE TABLE "Shop".child () INHERITS ("Shop".it)',
      'other tables inherit from "Shop"."it"',
    ],
  ])('refuses what %s creates', async (statement, message) => {
    const { roles, owner, dataSource } = service;
    await owner.query(statement);
    await owner.query(`GRANT ALL ON "Shop".it TO ${roles.service}`);
    const options = { track: true, key: 'ware_id' };
    await expect(
      describeTable(
        dataSource,
        '"Shop".it',
        statement.includes('id integer') ? { track: true } : options,
      ),
    ).rejects.toThrow(message);
    await expect(
      dataSource.query(`SELECT track_table('test_it', '"Shop"."it"', 'ware_id')`),
    ).rejects.toThrow(message);
    const kind = /CREATE (?:UNLOGGED )?((?:MATERIALIZED )?\w+)/.exec(statement)?.[1];
    await owner.query(`DROP ${kind} "Shop".it CASCADE`);
  });
});
