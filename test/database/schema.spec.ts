import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { migrate, pendingMigrations } from '../../src/database/migrate.js';
import { findViolations } from '../../src/verify/verify.js';
import { identifierOf, resourcesOf } from '../../src/resource/resource.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(() => service.stop());

const query = <Row>(sql: string) => service.dataSource.query<Row[]>(sql);

describe('The schema', () => {
  it('is what the entities say, and nothing is off', async () => {
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('is up to date after a migration, which a second one leaves alone', async () => {
    expect(await pendingMigrations(service.dataSource)).toEqual([]);
    expect(await migrate(service.database.url)).toEqual([]);
  });

  it('has every identifier and every reference that is a text in the collation C', () => {
    for (const metadata of resourcesOf(service.dataSource).values()) {
      const references = metadata.foreignKeys.flatMap(({ columns }) => columns);
      for (const { type, collation } of [identifierOf(metadata), ...references]) {
        expect([type, collation]).toEqual([type, type === 'varchar' ? 'C' : undefined]);
      }
    }
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
      'DROP INDEX "IDX_4cab5e81d29a3a64278a9c61d6"',
      /^the schema is not as declared, this is lacking: CREATE INDEX/,
    ],
    [
      'an index of a list that is gone',
      'DROP INDEX brands_by_name',
      /^brands has no index brands_by_name; run .*: CREATE INDEX "brands_by_name" ON/,
    ],
    [
      'a filter that no index serves',
      'DROP INDEX brands_by_name, brands_by_name_desc',
      /^no index serves the filter name of brands, which needs one on \("name", "brandID"\)$/,
    ],
    [
      'a sort that no index serves',
      'DROP INDEX brands_by_name',
      /^no index serves the sort name of brands, which needs one on \("name", "brandID"\)$/,
    ],
    [
      'a descending sort that no index serves',
      'DROP INDEX brands_by_name_desc',
      /^no index serves the sort name of brands, which needs one on \("name" DESC NULLS LAST, "brandID"\)$/,
    ],
    [
      'a search that no index serves',
      'DROP INDEX "IDX_a936876b3de4619f018bbcd04e"',
      /^no index serves the filter q of products, which needs a gin index on \("words"\)$/,
    ],
    [
      'a trigger that is disabled',
      'ALTER TABLE brands DISABLE TRIGGER brands_updated_at',
      /^the trigger brands_updated_at on brands is disabled; run ALTER TABLE/,
    ],
    [
      'a trigger that is gone',
      'DROP TRIGGER brands_updated_at ON brands',
      /^brands has no trigger that keeps updatedAt; run /,
    ],
    [
      'a resource whose deletions nobody is told of',
      `SELECT remove_deletions('brands')`,
      /^brands has no trigger brands_deletions_delete, .*; run .*SELECT install_deletions/,
    ],
    [
      'times of changes that would be behind the watermark',
      `SELECT advance_watermark(); SELECT setval('watermark_floor', 1)`,
      /^the sequence watermark_floor is behind the watermark: SELECT advance_watermark\(\)$/,
    ],
    [
      'a clock that was set back',
      `SELECT advance_watermark('-10 minutes')`,
      /^the clock of the database is (59\d|600) s behind the last changes: it was set back$/,
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
      const found = await findViolations(damaged.application);
      expect(found).toContainEqual(expect.stringMatching(finding));
    } finally {
      await damaged.stop();
    }
  });
});
