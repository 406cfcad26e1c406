import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { DataSource, EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { dropSurplusResource } from '#server/cli/drop-resource.js';
import { conditionsOf } from '#server/list/condition/filters.js';
import { ListQueryDto, TextParam } from '@catalogue/server';
import { Maintenance } from '#server/list/maintenance.js';
import { describeTable } from '#server/schema/describe-table.js';
import { differences } from '#server/schema/differences.js';
import { schemaChanges } from '#server/schema/schema-changes.js';
import { SchemaCheck } from '#server/schema/schema-check.js';
import { externalDifferences } from '#server/schema/external-table.js';
import { findViolations } from '#server/verify/verify.js';
import { logLines } from '../log-lines.js';
import { installDeclared } from '../schema/declared.js';
import { refusal } from '../service.js';
import { until } from '../until.js';
import { ITEMS, SHOP, shopStatements, startShop } from './external.fixture.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../../src/app.module.js';
import { shared } from '#server/testing/shared.js';

for (const [resource, entity] of ITEMS) {
  const sorts = resource === 'test_open_items' ? ['price'] : ['name', 'state', 'price'];
  describeList(entity, AppModule, {
    start: startShop,
    fields: ['item_id', 'name', 'state', 'price', 'tags', 'brandID', 'part_of', 'sold_at'],
    sorts: ['item_id', ...sorts],
    values: {
      // As its column stores it.
      price: (at) => (at % 5 === 0 ? null : `${(at % 4) - 2}.50`),
      // Of the columns of the view it is not known that they are never null.
      name: (at) => `name ${at % 4}`,
      state: (at) => ['new', 'sold out'][at % 2],
    },
  });
}

describe('A service that lists external tables', () => {
  const service = shared(startShop);

  beforeAll(async () => {
    await service.load('brands', [{ brandID: 'b1', name: 'One' }]);
    await query(
      `INSERT INTO shop.items (item_id, name, state, price, "brandID")
       SELECT CASE i WHEN 1 THEN 'b1' ELSE 'i' || i END, 'name', 'new', i, 'b1' FROM generate_series(1, 9) i`,
    );
  });

  const query = (sql: string) => service.dataSource.query<unknown[]>(sql);
  const check = () => service.application.get(SchemaCheck).start();
  const ready = () => service.anonymous().get('/health/ready');

  it('compares the beginning of a text by a pattern, since the collation of a table may be any', () => {
    class BeginningDto extends ListQueryDto {
      @TextParam('The items whose name begins with this.') nameStarts?: string;
    }
    const metadata = service.dataSource.getMetadata(ITEMS.get('test_items') ?? '');
    const name = metadata.findColumnWithPropertyName('name') ?? null;
    const declared = Object.create(name, { collation: { value: 'C' } }) as ColumnMetadata;
    const other = Object.create(metadata, {
      findColumnWithPropertyName: { value: () => declared },
    }) as EntityMetadata;
    const query = Object.assign(new BeginningDto(), { nameStarts: 'a' });
    expect(conditionsOf(other, query, {})).toEqual([
      { kind: 'comparison', column: 'name', operator: 'LIKE', value: 'a%' },
    ]);
  });

  it('finds nothing off, writes no migration, and maintains nothing of them', async () => {
    expect(await findViolations(service.application)).toEqual([]);
    expect(await schemaChanges(service.dataSource)).toEqual({ up: [], down: [] });
    expect(await installDeclared(service.dataSource, true)).toEqual([]);
    const maintenance = service.application.get(Maintenance);
    const maintained = [...maintenance.failures.keys()];
    expect(maintained).toContain('products');
    expect(maintained.filter((resource) => resource in SHOP)).toEqual([]);
    maintenance.start();
    await until(() => Promise.resolve(maintenance.rounds.done > 0));
    expect(maintenance.hasFault).toBe(false);
    const [{ count }] = (await query(
      `SELECT count(*) FROM pg_trigger WHERE tgrelid = 'shop.items'::regclass`,
    )) as [{ count: string }];
    expect(count).toBe('0');
  });

  it.each(Object.keys(SHOP))('lists what its owner has just written into %s', async (resource) => {
    for (const name of ['first', 'second']) {
      await query(`UPDATE shop.items SET name = '${name}' WHERE item_id = 'i2'`);
      for (const path of [`/${resource}?name=${name}`, `/${resource}/i2`]) {
        const { body } = await service.get(path).expect(200);
        expect(body.response_data).toMatchObject({ count: '1', objects: [{ name }] });
      }
    }
    await query(`UPDATE shop.items SET name = 'name' WHERE item_id = 'i2'`);
  });

  it('has no ETag for its own lists that look one of them up', async () => {
    const all = await service.get('/sold-brands').expect(200);
    expect(all.headers.etag).toMatch(/^W/);
    const before = await service.get('/sold-brands?itemState=new').expect(200);
    expect(before.body.response_data.count).toBe('1');
    expect(before.headers).not.toHaveProperty('etag');
    await query(`UPDATE shop.items SET state = 'sold out' WHERE item_id = 'b1'`);
    const after = await service.get('/sold-brands?itemState=new').expect(200);
    expect(after.body.response_data.count).toBe('0');
  });

  it('never drops them', async () => {
    await expect(dropSurplusResource(service.dataSource, 'test_items', true)).rejects.toThrow(
      'test_items lists "shop"."items", an external table, which the service never drops',
    );
  });

  it('is not ready while a table is not what its entity says, and names what is wrong', async () => {
    const logged = logLines('error', 'warn');
    const changes = [
      ['RENAME COLUMN price TO cost', 'RENAME COLUMN cost TO price', 'there is no column price'],
      [
        'ALTER COLUMN name TYPE varchar(90)',
        'ALTER COLUMN name TYPE varchar(80)',
        'the column name is of the type character varying(90), longer than 80 characters',
      ],
      [
        'ALTER COLUMN name TYPE text',
        'ALTER COLUMN name TYPE varchar(80)',
        'the column name is of the type text, longer than 80 characters',
      ],
      [
        'ALTER COLUMN sold_at TYPE timestamp',
        'ALTER COLUMN sold_at TYPE timestamptz',
        'the column sold_at is of the type timestamp without time zone, and not timestamptz',
      ],
      [
        'ALTER COLUMN name DROP NOT NULL',
        'ALTER COLUMN name SET NOT NULL',
        'the column name may be null',
      ],
      [
        'DROP CONSTRAINT items_pkey',
        'ADD PRIMARY KEY (item_id)',
        'there is no unique index on item_id alone',
      ],
    ] as const;
    // No column changes that a view names.
    await query('DROP VIEW shop.open_items');
    const found = async () => (await differences(service.dataSource)).map(({ text }) => text);
    expect(await found()).toEqual([
      'there is no "shop"."open_items", which Shoptest_open_items lists',
    ]);
    for (const [change, back, text] of changes) {
      await query(`ALTER TABLE shop.items ${change}`);
      expect(await found()).toContain(`${text} in "shop"."items"`);
      await query(`ALTER TABLE shop.items ${back}`);
    }
    await query(`ALTER TYPE shop.state ADD VALUE 'lost'`);
    expect(await found()).toContain('the column state may also be lost in "shop"."items"');
    await query(`DELETE FROM pg_enum WHERE enumlabel = 'lost'`);
    // A filter by such a value would fail.
    await query(`UPDATE shop.items SET state = 'new'`);
    await query(
      `DELETE FROM pg_enum WHERE enumtypid = 'shop.state'::regtype AND enumlabel = 'sold out'`,
    );
    expect(await found()).toContain('the column state is never sold out in "shop"."items"');
    await query(`ALTER TYPE shop.state ADD VALUE 'sold out'`);
    await check();
    await ready().expect(503, { status: 'unavailable', reason: 'schema' });
    await service
      .get('/test_open_items')
      .expect(503, refusal(-2, 'The service is temporarily unavailable'));
    await service.get('/test_items').expect(200);
    expect(logged).toEqual([
      'The database does not match the entities: there is no "shop"."open_items", which Shoptest_open_items lists; have its owner bring it back, or remove the resource',
    ]);
    const view = shopStatements(service.database.url).find((each) =>
      each.startsWith('CREATE VIEW'),
    );
    await query(view ?? '');
    await until(async () => (await ready()).status === 200);
    jest.restoreAllMocks();
  });

  it('names what it may not read', async () => {
    await query('CREATE ROLE reader');
    await query('GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader');
    await service.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL ROLE reader');
      const asReader = { query: manager.query.bind(manager) } as unknown as DataSource;
      const metadata = service.dataSource.getMetadata('Shoptest_items');
      expect(await externalDifferences(asReader, metadata)).toMatchObject([
        { text: 'the user of the service may not read "shop"."items"' },
      ]);
    });
    await query('DROP OWNED BY reader; DROP ROLE reader');
  });

  it('answers -2 while the server of a foreign table is away', async () => {
    await query("ALTER SERVER loop OPTIONS (SET port '1')");
    const away = refusal(-2, 'The service is temporarily unavailable');
    await service.get('/test_remote_items').expect(503, away);
    await service.get('/test_items').expect(200);
    const { port } = new URL(service.database.url);
    await query(`ALTER SERVER loop OPTIONS (SET port '${port}')`);
    await service.get('/test_remote_items').expect(200);
  });

  it('verifies that an index serves each filter and sort, and that identifiers are unique', async () => {
    await query('DROP INDEX shop.items_name_idx');
    await query(
      'ALTER FOREIGN TABLE shop.remote_items OPTIONS (SET table_name $$twice$$)'.replace(
        /\$\$/g,
        "'",
      ),
    );
    await query(
      'CREATE VIEW shop.twice AS SELECT * FROM shop.items UNION ALL SELECT * FROM shop.items',
    );
    expect((await findViolations(service.application)).slice(0, 4)).toEqual([
      'no index serves the filter name of test_items, which needs one on ("name", "item_id")',
      'no index serves the sort name of test_items, which needs one on ("name", "item_id")',
      'no index serves the filter name of test_open_items, which needs one on ("name", "item_id")',
      '2 test_remote_items have the item_id b1',
    ]);
    await query('DROP VIEW shop.twice');
    await query("ALTER FOREIGN TABLE shop.remote_items OPTIONS (SET table_name 'items')");
    await query('CREATE INDEX ON shop.items (name)');
    // PostgreSQL uses an index on updated rows when the transactions before it have ended, in every database.
    await until(async () => {
      const [{ isUsed }] = await service.dataSource.query<[{ isUsed: boolean }]>(
        `SELECT xmin::text::bigint < pg_snapshot_xmin(pg_current_snapshot())::text::bigint AS "isUsed"
         FROM pg_index WHERE indexrelid = 'shop.items_name_idx'::regclass`,
      );
      return isUsed;
    });
  });

  describe('described', () => {
    beforeAll(async () => {
      await query(`CREATE TABLE shop.pairs (a integer, b integer, PRIMARY KEY (a, b));
        CREATE TABLE shop.small (id smallint PRIMARY KEY, n integer UNIQUE);
        CREATE VIEW shop.repeated AS SELECT 1 AS n FROM generate_series(1, 2);
        CREATE TYPE shop.odd_state AS ENUM ('a,b');
        CREATE TABLE shop.odd (id integer PRIMARY KEY, state shop.odd_state)`);
      // There since the first migration with a generated column.
      await query('CREATE TABLE IF NOT EXISTS typeorm_metadata (type character varying)');
    });

    const of = (table: string, options = {}) => describeTable(service.dataSource, table, options);
    const flags = async (table: string, options: object) => {
      const { columns } = await of(table, options);
      return Object.fromEntries(columns.map(({ name, flags: each }) => [name, each.join(' ')]));
    };

    it('has the columns of a table, and the filters and sorts that an index serves', async () => {
      const { key, columns, ...table } = await of('shop.items', { omit: ['unlisted'] });
      expect(table).toEqual({ schema: 'shop', name: 'items', kind: 'table' });
      expect(key).toMatchObject({ name: 'item_id', type: 'text' });
      expect(columns.slice(0, 2)).toEqual([
        {
          name: 'name',
          type: 'text',
          length: 80,
          values: null,
          flags: ['exact', 'starts', 'sort'],
        },
        {
          name: 'state',
          type: 'enum',
          length: null,
          values: ['new', 'sold out'],
          flags: ['several'],
        },
      ]);
      expect(await flags('shop.items', { omit: ['unlisted'] })).toEqual({
        name: 'exact starts sort',
        state: 'several',
        price: 'null exact exists interval sort',
        tags: 'null several',
        brandID: 'null',
        part_of: 'null exact exists starts sort',
        sold_at: 'null',
      });
    });

    it('has of a view what its tables serve, and of a foreign table what it is told', async () => {
      const key = 'item_id';
      expect(await flags('shop.open_items', { key, omit: ['unlisted'] })).toMatchObject({
        name: 'null exact starts sort',
        price: 'null exact exists interval sort',
        sold_at: 'null',
      });
      expect(await flags('shop.remote_items', { key, indexed: ['name'] })).toMatchObject({
        name: 'exact starts sort',
        price: 'null',
      });
      await query('CREATE MATERIALIZED VIEW shop.kept AS SELECT item_id, price FROM shop.items');
      await expect(of('shop.kept', { key })).rejects.toThrow(
        'No index finds the rows of shop.kept',
      );
      await query('CREATE UNIQUE INDEX ON shop.kept (item_id)');
      expect(await flags('shop.kept', { key })).toEqual({ price: 'null' });
      await query('DROP MATERIALIZED VIEW shop.kept');
    });

    it.each([
      [
        'shop.items',
        {},
        'shop.items has columns that no list can show: unlisted is of the type point',
      ],
      ['shop.open_items', { omit: ['unlisted'] }, 'The view shop.open_items has no primary key'],
      ['shop.remote_items', {}, 'The foreign table shop.remote_items has no primary key'],
      ['shop.pairs', {}, 'shop.pairs is identified by a and b: a resource needs one column'],
      ['shop.pairs', { key: 'a' }, 'shop.pairs has no unique index on a alone'],
      ['shop.pairs', { key: 'c' }, 'shop.pairs has no column c'],
      ['shop.small', {}, 'shop.small is identified by id, which is of the type smallint'],
      ['shop.small', { key: 'n' }, 'shop.small.n may be null'],
      ['shop.repeated', { key: 'n' }, 'Several rows of shop.repeated have the same n'],
      ['shop.odd', {}, `state may be "a,b"`],
      ['shop.nothing', {}, 'There is no table, view or foreign table shop.nothing'],
      ['products', {}, 'public.products is a table of the service itself'],
      ['brands_deletions', {}, 'public.brands_deletions is a table of the service itself'],
      ['access_tokens', {}, 'public.access_tokens is a table of the service itself'],
      ['brands_tally_deltas', {}, 'public.brands_tally_deltas is a table of the service itself'],
      ['typeorm_metadata', {}, 'public.typeorm_metadata is a table of the service itself'],
      ['pg_class', { key: 'oid' }, 'pg_catalog.pg_class is a table of PostgreSQL itself'],
    ])('refuses %s with %j', async (table, options, message) => {
      await expect(of(table, options)).rejects.toThrow(message);
    });
  });
});

describe('An external table with many rows', () => {
  const service = shared(startShop);

  it('is listed at the greatest offset with an empty page and the true count', async () => {
    await service.dataSource.query(
      `INSERT INTO shop.items (item_id, name, state, price)
       SELECT 'far' || i, 'far', 'new', i FROM generate_series(1, 1100) i`,
    );
    const path = `/test_items?name=far&sort=-price,name&offset=${Number.MAX_SAFE_INTEGER}`;
    const { body } = await service.get(path).expect(200);
    expect(body.response_data).toEqual({ count: '1100', objects: [] });
  });
});
