import type { MigrationInterface, QueryRunner } from 'typeorm';
import { replaced } from '../replaced-parts.js';
import { TYPED_TALLY } from './1764640800000-type-identifiers.js';

/**
 * Lets a tally count the intervals of a sorted column among the objects with values of counted columns, such as
 * prices within a category.
 *
 * `install_tally` gets a sixth argument: `intervals` names combinations such as `categoryID+type+price`. The last
 * column is a sorted one. Its tally has the facets of the others, too.
 */
export class CountRanges1764648000000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(`ALTER TABLE "tallies" ADD "intervals" text[] NOT NULL DEFAULT '{}'`);
    await runner.query('DROP FUNCTION install_tally(text, text, text[], text[], text[])');
    await runner.query(RANGED_TALLY);
    await installProductsTally(
      runner,
      `, '{categoryID+price,categoryID+type+price,brandID+price}'`,
    );
  }

  /** @throws QueryFailedError while another resource has a tally with intervals */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DO $do$ BEGIN
         IF EXISTS (SELECT FROM tallies WHERE intervals <> '{}' AND resource <> 'products') THEN
           RAISE 'The tally of a resource counts intervals: %', (
             SELECT min(resource) FROM tallies WHERE intervals <> '{}' AND resource <> 'products'
           );
         END IF;
       END $do$`,
    );
    await runner.query('DROP FUNCTION install_tally(text, text, text[], text[], text[], text[])');
    await runner.query('ALTER TABLE "tallies" DROP "intervals"');
    await runner.query(replaced(TYPED_TALLY, ['CREATE OR REPLACE FUNCTION', 'CREATE FUNCTION']));
    await installProductsTally(runner);
  }
}

async function installProductsTally(runner: QueryRunner, intervals = ''): Promise<void> {
  await runner.query(
    `SELECT install_tally(resource, identifier, counted, sorted, searched${intervals}) FROM tallies
     WHERE resource = 'products'`,
  );
}

export const RANGED_TALLY = replaced(
  TYPED_TALLY,
  ['CREATE OR REPLACE FUNCTION', 'CREATE FUNCTION'],
  [
    `searched text[] DEFAULT '{}'
 )`,
    `searched text[] DEFAULT '{}',
   intervals text[] DEFAULT '{}'
 )`,
  ],
  [
    'array_to_string(identifier || counted || sorted || searched,',
    'array_to_string(identifier || counted || sorted || searched || intervals,',
  ],
  [
    'WHEN ordered = ANY(sorted) THEN broad ELSE single END;',
    `WHEN ordered = ANY(sorted) THEN broad || ARRAY(
         SELECT left(element, -1 - length(ordered)) FROM unnest(intervals) AS within(element)
         WHERE right(element, 1 + length(ordered)) = '+' || ordered
       ) ELSE single END;`,
  ],
  [
    `INSERT INTO tallies (resource, identifier, counted, sorted, searched)
   VALUES (of_resource, identifier, counted, sorted, searched);`,
    `INSERT INTO tallies (resource, identifier, counted, sorted, searched, intervals)
   VALUES (of_resource, identifier, counted, sorted, searched, intervals);`,
  ],
);
