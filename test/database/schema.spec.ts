import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate, pendingMigrations } from '../../src/database/migrate.js';
import { findings } from '../../src/database/verify.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const query = <Row>(sql: string) => service.dataSource.query<Row[]>(sql);

describe('The schema', () => {
  it('is what the entities say, and nothing is off', async () => {
    expect(await findings(service.dataSource)).toEqual([]);
  });

  it('is up to date after a migration, which a second one leaves alone', async () => {
    expect(await pendingMigrations(service.dataSource)).toEqual([]);
    expect(await migrate(service.database.url)).toEqual([]);
  });

  it('has every identifier and every reference in the collation C', async () => {
    const columns = await query(
      `SELECT table_name, column_name FROM information_schema.columns
       WHERE table_schema = 'public' AND column_name LIKE '%ID' AND collation_name IS DISTINCT FROM 'C'`,
    );
    expect(columns).toEqual([]);
  });

  it('keeps updatedAt itself, whatever a writer says', async () => {
    await query(
      `INSERT INTO brands ("brandID", name, "updatedAt") VALUES ('a', 'A', '2001-01-01T00:00:00Z')`,
    );
    const [inserted] = await query<{ old: boolean }>(
      `SELECT "updatedAt" < now() - interval '1 minute' AS old FROM brands`,
    );
    expect(inserted).toEqual({ old: false });
    await query(`UPDATE brands SET "updatedAt" = '2001-01-01T00:00:00Z'`);
    const [updated] = await query<{ old: boolean }>(
      `SELECT "updatedAt" < now() - interval '1 minute' AS old FROM brands`,
    );
    expect(updated).toEqual({ old: false });
  });

  it.each([
    ['refID', `"refID" = ANY(ARRAY['a'])`],
    ['type', `type = ANY(ARRAY['DIGITAL']::product_type[])`],
    ['brandID', `"brandID" = ANY(ARRAY['a'])`],
    ['categoryID', `"categoryID" = ANY(ARRAY['a'])`],
    ['q', `words @@ plainto_tsquery('simple', 'a')`],
    ['priceMin', 'price >= 1'],
    ['inStock', 'stock > 0'],
    ['updatedSince', `"updatedAt" >= now()`],
  ])('has an index for the filter %s', async (_, condition) => {
    expect(await plan(`SELECT count(*) FROM products WHERE ${condition}`)).not.toContain(
      'Seq Scan',
    );
  });

  it.each(['productID', 'name', 'price', 'createdAt', 'updatedAt'])(
    'has an index for the sort %s, both ways',
    async (column) => {
      for (const direction of ['ASC', 'DESC']) {
        const lines = await plan(
          `SELECT * FROM products ORDER BY "${column}" ${direction}, "productID" LIMIT 50`,
        );
        expect(lines).not.toContain('Seq Scan');
        expect(lines).toContain('Index Scan');
      }
    },
  );

  /** The plan of a statement where an index is used if there is one that can be. */
  async function plan(statement: string): Promise<string> {
    return service.dataSource.transaction(async (manager) => {
      await manager.query('SET LOCAL enable_seqscan = off');
      await manager.query('SET LOCAL enable_sort = off');
      const lines = await manager.query<{ 'QUERY PLAN': string }[]>(`EXPLAIN ${statement}`);
      return lines.map((line) => line['QUERY PLAN']).join('\n');
    });
  }
});

describe('Verify finds', () => {
  it.each([
    [
      'a column that is not as declared',
      'ALTER TABLE brands ALTER COLUMN name DROP NOT NULL',
      /^the schema is not as declared, this is lacking: ALTER TABLE "brands"/,
    ],
    [
      'an index that is gone',
      'DROP INDEX "IDX_2ce621075c4ee73dc26b942065"',
      /^the schema is not as declared, this is lacking: CREATE INDEX/,
    ],
    [
      'a trigger that is disabled',
      'ALTER TABLE brands DISABLE TRIGGER brands_updated_at',
      /^the trigger brands_updated_at on brands is disabled$/,
    ],
    [
      'a trigger that is gone',
      'DROP TRIGGER brands_updated_at ON brands',
      /^brands has no trigger that keeps updatedAt$/,
    ],
    [
      'a reference to nothing',
      `SET session_replication_role = replica;
       INSERT INTO categories ("categoryID", "parentID", name) VALUES ('a', 'none', 'A');
       RESET session_replication_role`,
      /^1 categories name categories by parentID that are not there$/,
    ],
    [
      'categories that go round in a circle',
      `INSERT INTO categories ("categoryID", "parentID", name) VALUES ('a', 'b', 'A'), ('b', 'a', 'B')`,
      /^categories a is below itself by parentID$/,
    ],
  ])('%s', async (_, damage, finding) => {
    const damaged = await startService();
    try {
      await damaged.dataSource.query(damage);
      const found = await findings(damaged.dataSource);
      expect(found).toContainEqual(expect.stringMatching(finding));
    } finally {
      await damaged.stop();
    }
  });
});
