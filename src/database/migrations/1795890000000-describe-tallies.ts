import type { QueryRunner } from 'typeorm';
import { type AppliesFunctions, applyFunctions } from '../sql-files.js';

/** Stores what each tally counts, which lists read in place of asking a function whether it is what they declare. */
export class DescribeTallies1795890000000 implements AppliesFunctions {
  readonly applies = { 'tally.sql': '6a2365788b76' };

  async up(runner: QueryRunner): Promise<void> {
    await applyFunctions(runner, this);
    await runner.query(
      'DROP FUNCTION IF EXISTS tally_covers(text, text[], text[], text[], text[])',
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('DROP FUNCTION tally_description, installed_tally');
    await runner.query(
      `CREATE FUNCTION tally_covers(text, text[], text[], text[], text[]) RETURNS boolean LANGUAGE sql STABLE AS $$
         SELECT EXISTS (
           SELECT FROM tallies WHERE resource = $1
           AND counted @> $2 AND sorted @> $3 AND searched @> $4 AND intervals @> $5
         )
       $$`,
    );
  }
}
