import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaced } from '../replaced-parts.js';
import { REMOVE_TALLY } from './1764201600000-tally-words.js';
import { RANGED_TALLY } from './1764648000000-count-ranges.js';

/**
 * Lets a tally count the cells of a grid: the objects with a value of a sorted column between two bounds, and with an
 * identifier between two others. The running sum over the identifiers finds an offset in an interval of values.
 *
 * `install_tally` gets a seventh argument: `grids` names sorted columns. Each of them has these tables:
 *
 * - `<resource>_tally_by_<column>_grid_bounds`: one row with the bounds of the cells, or none. Maintenance chooses
 *   them. `is_counted` is false while the objects are being counted by these bounds.
 * - `<resource>_tally_by_<column>_grid` and `<resource>_tally_by_<column>_grid_deltas`: the number of objects in a
 *   cell. Its numbers are those that `width_bucket` gives for the bounds. Objects without a value are in none.
 */
export class CountGrids1764669600000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "tallies" ADD "grids" text[] NOT NULL DEFAULT '{}'`);
    await runner.query('DROP FUNCTION install_tally(text, text, text[], text[], text[], text[])');
    await runner.query(GRIDDED_TALLY);
    await runner.query(REMOVE_GRIDDED_TALLY);
    await installProductsTally(runner, `, '{price}'`);
  }

  /** @throws QueryFailedError while another resource has a grid */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DO $do$ BEGIN
         IF EXISTS (SELECT FROM tallies WHERE grids <> '{}' AND resource <> 'products') THEN
           RAISE 'The tally of a resource has a grid: %', (
             SELECT min(resource) FROM tallies WHERE grids <> '{}' AND resource <> 'products'
           );
         END IF;
       END $do$`,
    );
    await installProductsTally(runner);
    await runner.query(
      'DROP FUNCTION install_tally(text, text, text[], text[], text[], text[], text[])',
    );
    await runner.query('ALTER TABLE "tallies" DROP "grids"');
    await runner.query(RANGED_TALLY);
    await runner.query(orReplaced(REMOVE_TALLY));
  }
}

async function installProductsTally(runner: QueryRunner, grids = ''): Promise<void> {
  await runner.query(
    `SELECT install_tally(resource, identifier, counted, sorted, searched, ranges${grids}) FROM tallies
     WHERE resource = 'products'`,
  );
}

function orReplaced(statement: string): string {
  return replaced(statement, ['CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION']);
}

const GRIDDED_TALLY = replaced(
  RANGED_TALLY,
  [
    `ranges text[] DEFAULT '{}'
 )`,
    `ranges text[] DEFAULT '{}', grids text[] DEFAULT '{}'
 )`,
  ],
  [
    `   words text;
`,
    `   words text;
   grid text;
   bounds text;
   -- Truncated last, in the order in which maintenance reads the tables.
   grid_tables text := '';
`,
  ],
  [
    `     additions := additions || addition;
`,
    `     additions := additions || addition;
     IF ordered = ANY(grids) THEN
       grid := of_resource || '_tally_by_' || ordered || '_grid';
       IF octet_length(grid || '_bounds') > 63 THEN
         RAISE 'The name % of a grid is longer than 63 bytes', grid || '_bounds';
       END IF;
       deltas := home || '.' || quote_ident(grid || '_deltas');
       bounds := home || '.' || quote_ident(grid || '_bounds');
       grid := home || '.' || quote_ident(grid);
       grid_tables := grid_tables || ', ' || grid || ', ' || deltas;
       orders := orders + 1;
       compared := compared || format(
         ', bool_or(ROW(came.%1$I, came.%2$I) IS DISTINCT FROM ROW(went.%1$I, went.%2$I))', ordered, identifier);
       EXECUTE format(
         'CREATE TABLE %s (
            value_cell integer, identifier_cell integer, count bigint NOT NULL,
            PRIMARY KEY (value_cell, identifier_cell)
          ) WITH (fillfactor = 50)', grid);
       EXECUTE format(
         'CREATE TABLE %s (LIKE %s) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000)',
         deltas, grid);
       EXECUTE format('CREATE INDEX ON %s (value_cell, identifier_cell)', deltas);
       -- With the types and collations of the tally.
       EXECUTE format(
         'CREATE TABLE %1$s AS SELECT ARRAY(SELECT value FROM %2$s) AS value_bounds,
            ARRAY(SELECT lowest FROM %2$s) AS identifier_bounds, false AS is_counted WITH NO DATA', bounds, tally);
       EXECUTE format('CREATE UNIQUE INDEX ON %s ((true))', bounds);
       -- An array of a row may be compressed. It is expanded once, and not for each object.
       additions := additions || format(
         'IF changed[%1$s] IS NOT FALSE AND EXISTS (SELECT FROM %2$s) THEN
            INSERT INTO %3$s (value_cell, identifier_cell, count)
            WITH source AS (@rows), bounds AS MATERIALIZED (
              SELECT value_bounds || ''{}'' AS of_values, identifier_bounds || ''{}'' AS of_identifiers FROM %2$s
            )
            SELECT width_bucket(object.%4$I, bounds.of_values), width_bucket(object.%5$I, bounds.of_identifiers),
              sum("#step")
            FROM bounds CROSS JOIN source object WHERE object.%4$I IS NOT NULL
            GROUP BY 1, 2 HAVING sum("#step") <> 0;
          END IF;
          ', orders, bounds, deltas, ordered, identifier);
     END IF;
`,
  ],
  ['substr(tables, 3)', 'substr(tables || grid_tables, 3)'],
  [
    `INSERT INTO tallies (resource, identifier, counted, sorted, searched, ranges)
   VALUES (of_resource, identifier, counted, sorted, searched, ranges);`,
    `INSERT INTO tallies (resource, identifier, counted, sorted, searched, ranges, grids)
   VALUES (of_resource, identifier, counted, sorted, searched, ranges, grids);`,
  ],
);

const REMOVE_GRIDDED_TALLY = replaced(orReplaced(REMOVE_TALLY), [
  `UNION ALL SELECT '_tally_by_' || unnest(searched) || '_counted'`,
  `UNION ALL SELECT '_tally_by_' || unnest(searched) || '_counted'
       UNION ALL SELECT '_tally_by_' || ordered || part
       FROM unnest(grids) ordered, unnest('{_grid,_grid_deltas,_grid_bounds}'::text[]) part`,
]);
