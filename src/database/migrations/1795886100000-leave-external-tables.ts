import type { QueryRunner } from 'typeorm';
import { type AppliesFunctions, applyFunctions } from '../sql-files.js';

const FUNCTIONS = [
  'relation_of',
  'tracked_relations',
  'untrackable',
  'tracking_triggers',
  'create_tracking_triggers',
  'tracking_of',
  'is_tracking_intact',
  'check_trackable',
  'create_counting_function',
  'track_tally',
  'create_change_tables',
  'create_changes_function',
  'track_changes',
  'track_table',
  'untime_changes',
  'untrack_table',
];

/**
 * Removes the triggers of the service from external tables, with what they have written, and the functions that created
 * them.
 */
export class LeaveExternalTables1795886100000 implements AppliesFunctions {
  readonly applies = {
    'triggers.sql': '9e7642ff103f',
    'deletions.sql': 'bad44305c5be',
  };

  async up(runner: QueryRunner): Promise<void> {
    const tracked = await runner.manager.query<{ resource: string }[]>(
      'SELECT resource FROM tallies WHERE tracked IS NOT NULL',
    );
    for (const { resource } of tracked) {
      await runner.query(`DROP FUNCTION IF EXISTS "keep_${resource}_changes"() CASCADE`);
      await runner.query(
        `DROP TABLE IF EXISTS "${resource}_tally_changes", "${resource}_deletions"`,
      );
      await runner.query('SELECT remove_tally($1)', [resource]);
    }
    await runner.query(`DROP FUNCTION IF EXISTS ${FUNCTIONS.join(', ')}`);
    await runner.query('ALTER TABLE tallies DROP tracked, DROP tracking');
    await applyFunctions(runner, this);
  }

  /** Creates what the first migration drops when it is taken back. Nothing is tracked by it. */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE tallies ADD tracked text, ADD tracking jsonb');
    for (const name of FUNCTIONS) {
      await runner.query(`CREATE FUNCTION ${name}(text) RETURNS void LANGUAGE sql AS ''`);
    }
  }
}
