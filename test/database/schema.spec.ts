import { beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { pendingMigrations } from '#server/database/migrate.js';
import { databaseOptions } from '#server/database/database-client.js';
import { migrate } from '#server/schema/migrate.js';
import { callLists } from '#server/verify/called-lists.js';
import { missingIndexes } from '#server/verify/missing-indexes.js';
import { findViolations } from '#server/verify/verify.js';
import { identifierOf, ownResources, resourcesOf } from '#server/resource/resource.js';
import { MIGRATIONS } from '../project.js';
import { sharedService, startService } from '../service.js';

const service = sharedService();

const query = <Row>(sql: string) => service.dataSource.query<Row[]>(sql);

describe('The schema', () => {
  it('is what the entities say, and nothing is off', async () => {
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('is up to date after a migration, which a second one leaves alone', async () => {
    expect(await pendingMigrations(service.dataSource)).toEqual([]);
    const declared = () => Promise.resolve(service.dataSource);
    const options = { migrations: MIGRATIONS, declared, exact: true };
    expect(await migrate(service.database.url, options)).toEqual({
      migrations: [],
      installed: [],
    });
  });

  it('refuses two migrations of one name, and so does the list of what is pending', async () => {
    const { url } = service.database;
    const same = () =>
      class Same9000000000000 {
        up = () => Promise.resolve();
        down = this.up;
      };
    const migrations = [...MIGRATIONS, same(), same()];
    const dataSource = await new DataSource({ ...databaseOptions(url), migrations }).initialize();
    const refused = 'Duplicate migrations: Same9000000000000';
    await expect(pendingMigrations(dataSource)).rejects.toThrow(refused);
    await dataSource.destroy();
    await expect(migrate(url, { migrations })).rejects.toThrow(refused);
  });

  it('has every identifier and every reference that is a text in the collation C', () => {
    for (const metadata of resourcesOf(service.dataSource).values()) {
      const references = metadata.foreignKeys.flatMap(({ columns }) => columns);
      for (const { type, collation } of [identifierOf(metadata), ...references]) {
        expect([type, collation]).toEqual([type, type === 'varchar' ? 'C' : undefined]);
      }
    }
  });

  it('has autovacuum not wait for a fifth of the objects of a resource', async () => {
    const tables = [...ownResources(service.dataSource).keys()];
    const found = await query<{ relname: string; reloptions: string[] }>(
      `SELECT relname, reloptions FROM pg_class WHERE oid = ANY ('{${tables.join()}}'::regclass[])`,
    );
    expect(found.map(({ relname }) => relname).sort()).toEqual(tables.sort());
    for (const { reloptions } of found) {
      expect(reloptions).toEqual(['autovacuum_vacuum_scale_factor=0.05']);
    }
  });

  it('serves a filter by an index of all objects beside one of some', async () => {
    await query(`CREATE INDEX physical ON products (type) WHERE type = 'PHYSICAL'`);
    expect(await missingIndexes(await callLists(service.application), service.application)).toEqual(
      [],
    );
    await query('DROP INDEX physical');
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

/**
 * What is damaged together, and what verify finds then. The statements of lists are not tried where a column
 * is not as declared, and a watermark is either behind its sequence or ahead of the clock.
 */
const DAMAGES: readonly {
  readonly statements: string;
  readonly findings: readonly [what: string, finding: RegExp][];
}[] = [
  {
    statements: `SELECT advance_watermark('-10 minutes');
      ALTER TABLE brands ALTER COLUMN name DROP NOT NULL`,
    findings: [
      [
        'a column that is not as declared',
        /^the schema is not as declared, this is lacking: ALTER TABLE "brands"/,
      ],
      [
        'a clock that was set back',
        /^the clock of the database is (59\d|600) s behind the last changes: it was set back$/,
      ],
    ],
  },
  {
    statements: `SELECT advance_watermark(); SELECT setval('watermark_floor', 1);
      DROP INDEX "IDX_4cab5e81d29a3a64278a9c61d6", "IDX_a936876b3de4619f018bbcd04e",
        brands_by_name, "categories_by_nameOrder";
      SET session_replication_role = replica;
      INSERT INTO categories ("categoryID", "parentID", name) VALUES ('a', 'none', 'A');
      INSERT INTO products ("productID", type, name, words) VALUES ('p', 'PHYSICAL', 'Lamp', 'chair');
      RESET session_replication_role;
      INSERT INTO categories ("categoryID", "parentID", name) VALUES ('b', 'c', 'B'), ('c', 'b', 'C')`,
    findings: [
      [
        'a filter that no index serves',
        /^no index serves the filter name of brands, which needs one on \("name", "brandID"\)$/,
      ],
      [
        'a sort that no index serves',
        /^no index serves the sort name of categories, which needs one on \("nameOrder", "categoryID"\)$/,
      ],
      [
        'a search that no index serves',
        /^no index serves the filter q of products, which needs a gin index on \("words"\)$/,
      ],
      [
        'times of changes that would be behind the watermark',
        /^the sequence watermark_floor is behind the watermark: SELECT advance_watermark\(\)$/,
      ],
      ['a reference to nothing', /^1 categories name categories by parentID that are not there$/],
      [
        'words that are not those of the texts',
        /^1 products have other words than their texts; run catalogue search rebuild$/,
      ],
      ['categories that go round in a circle', /^categories b is below itself by parentID$/],
    ],
  },
];

describe.each(DAMAGES)('Verify finds', ({ statements, findings }) => {
  let found: string[];

  beforeAll(async () => {
    const damaged = await startService();
    try {
      await damaged.dataSource.query(statements);
      found = await findViolations(damaged.application);
    } finally {
      await damaged.stop();
    }
  });

  it.each(findings)('%s', (_, finding) => {
    expect(found).toContainEqual(expect.stringMatching(finding));
  });
});
