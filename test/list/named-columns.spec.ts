import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { DefaultNamingStrategy, type EntityMetadata } from 'typeorm';
import { schemaChanges } from '#server/schema/schema-changes.js';
import { wordTallyOf } from '#server/tally/described-tally.js';
import { findViolations } from '#server/verify/verify.js';
import { exported } from '../import/exported.js';
import { installDeclared } from '../schema/declared.js';
import type { Service } from '../service.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../../src/app.module.js';
import { startWith } from './migrated.js';
import { Plant, PlantsModule, snakeCased } from './named-columns.fixture.js';
import { shared } from '#server/testing/shared.js';

const PLANTS = Array.from({ length: 25 }, (_, at) => ({
  plantID: `p${String(at).padStart(2, '0')}`,
  plantHabit: at % 3 === 0 ? 'TREE' : 'HERB',
  plantName: `plant ${at % 5}`,
  plantParentID: at < 4 ? null : `p0${at % 4}`,
  soldBy: at % 4 === 0 ? null : `b${at % 2}`,
  plantPrice: at === 7 ? null : `${at % 6}.50`,
}));

/** Starts the service as with the strategy in the options of its data source. */
async function start(): Promise<Service> {
  jest.spyOn(DefaultNamingStrategy.prototype, 'columnName').mockImplementation(snakeCased);
  return startWith(PlantsModule, {
    before: [
      `SELECT install_words('test_plants', '{plant_name}')`,
      `CREATE VIEW named_plants AS SELECT plant_id AS "plantID", plant_habit AS "plantHabit",
         plant_name AS "plantName", plant_parent_id AS "plantParentID", brand_id AS "soldBy",
         plant_price AS "plantPrice" FROM test_plants`,
    ],
  });
}

describeList(Plant, AppModule, {
  start,
  view: 'named_plants',
  fields: [
    ...['plantID', 'plantHabit', 'plantName', 'plantParentID', 'soldBy', 'plantPrice'],
    ...['createdAt', 'updatedAt'],
  ],
  sorts: ['plantID', 'plantName', 'plantPrice'],
  objects: PLANTS,
  filters: {
    within: {
      value: 'p01',
      keeps: ({ plantID, plantParentID }) => plantID === 'p01' || plantParentID === 'p01',
    },
    parentName: {
      value: 'plant 1',
      keeps: ({ plantParentID }) => plantParentID === 'p01',
    },
    // The names of the brands are their identifiers.
    brandName: { value: 'b1', keeps: ({ soldBy }) => soldBy === 'b1' },
    q: { value: 'plant 2', keeps: ({ plantName }) => plantName === 'plant 2' },
  },
});

describe('A resource whose columns have other names than its fields', () => {
  const service = shared(start);
  let plants: EntityMetadata;

  beforeAll(async () => {
    plants = service.dataSource.getMetadata(Plant);
    await service.load('brands', [
      { brandID: 'b0', name: 'b0' },
      { brandID: 'b1', name: 'b1' },
    ]);
    await service.load('test_plants', PLANTS);
  });

  it('has these names in the table, also of a foreign key and of what is counted', async () => {
    expect(plants.columns.map(({ databaseName }) => databaseName)).toEqual([
      ...['plant_id', 'plant_habit', 'plant_name', 'plant_parent_id', 'brand_id', 'plant_price'],
      ...['plant_owner', 'created_at', 'updated_at', 'words'],
    ]);
    const [{ counted, recorded }] = await service.dataSource.query<
      [{ counted: string[]; recorded: string[] }]
    >(`SELECT counted, ARRAY(
         SELECT attname::text FROM pg_attribute
         WHERE attrelid = 'test_plants_deletions'::regclass AND attnum > 0 ORDER BY attnum
       ) AS recorded FROM tallies WHERE resource = 'test_plants'`);
    expect(counted).toEqual(['plant_habit', 'brand_id', 'plant_parent_id', 'brand_id+plant_habit']);
    expect(recorded).toEqual(['plant_id', 'plant_owner', 'deletedAt']);
  });

  const installedStatements = async (): Promise<string[]> =>
    (await installDeclared(service.dataSource)).flatMap(({ statements }) => statements);

  it('has a tally of its words, by the name of their column', () => {
    const tally = wordTallyOf(plants, { column: 'words', beginnings: [] });
    expect(tally?.column.propertyName).toBe('plantWords');
  });

  it('is as its entity declares, so that a migration has nothing to change', async () => {
    expect((await schemaChanges(service.dataSource)).up).toEqual([]);
    expect(await installDeclared(service.dataSource, true)).toEqual([]);
    await service.dataSource.query('DROP INDEX "test_plants_by_plant_price"');
    expect(await installedStatements()).toEqual([
      expect.stringMatching(/^CREATE INDEX CONCURRENTLY "test_plants_by_plant_price" /),
    ]);
  });

  it('has a trigger that sets the time of a change in its column, or gets it', async () => {
    const trigger =
      'CREATE OR REPLACE TRIGGER "test_plants_updated_at" BEFORE INSERT OR UPDATE ON "test_plants" FOR EACH ROW ' +
      'EXECUTE FUNCTION "keep_updated_at"';
    await service.dataSource.query(`${trigger}()`);
    expect(await installedStatements()).toEqual([`${trigger}('updated_at')`]);
  });

  it('is verified by its names', async () => {
    expect(await findViolations(service.application)).toEqual([]);
    await service.dataSource.query('DROP INDEX "test_plants_by_plant_name"');
    expect(await findViolations(service.application)).toContain(
      'no index serves the sort plantName of test_plants, which needs one on ("plant_name", "plant_id")',
    );
  });

  it('is exported by its fields, and imported again', async () => {
    const csv = await exported(service.dataSource, plants, 'csv');
    expect(csv).toMatch(
      /^plantID,plantHabit,plantName,plantParentID,soldBy,plantPrice,createdAt,updatedAt\n/,
    );
    expect(csv.trimEnd().split('\n')).toHaveLength(26);
    const refused = service.load('test_plants', [{ ...PLANTS[4], soldBy: 'none' }]);
    await expect(refused).rejects.toMatchObject({
      problems: [{ line: 1, column: 'soldBy', message: 'there is no brands object none' }],
    });
  });
});
