import type { QueryRunner } from 'typeorm';
import { createSearchFunctions } from '../search-functions.js';
import { type AppliesFunctions, applyFunctions, runSqlFile } from '../sql-files.js';

/** Creates the schema in an empty database. */
export class Baseline1764676800000 implements AppliesFunctions {
  /** The files with the functions, each with the beginning of its SHA-256: see `test/database/functions.spec.ts`. */
  readonly applies = {
    'triggers.sql': '77078bcd522f',
    'versions.sql': '9b4cfc383ff8',
    'watermark.sql': '73c7423c08fb',
    'deletions.sql': 'b71f249b8f34',
    'tally.sql': '1dfe583ad011',
    'tracking.sql': '244c26e13b1e',
    'words.sql': '082d9e3feb4a',
  };

  async up(runner: QueryRunner): Promise<void> {
    await runSqlFile(runner, 'baseline/clients.sql');
    await runSqlFile(runner, 'baseline/engine.sql');
    await createSearchFunctions(runner);
    await applyFunctions(runner, this);
    for (const resource of ['brands', 'categories', 'products', 'variants']) {
      await runSqlFile(runner, `baseline/${resource}.sql`);
    }
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('SELECT untrack_table(resource) FROM tallies WHERE tracked IS NOT NULL');
    await runner.query(
      'SELECT remove_words(resource), remove_deletions(resource), remove_tally(resource) FROM tallies',
    );
    await runner.query('DROP TABLE variants, products, categories, brands, access_tokens, clients');
    await runner.query('DROP TYPE product_type');
    // With the functions that take its rows.
    await runner.query('DROP VIEW tally_orders CASCADE');
    await runner.query(
      `DROP FUNCTION install_trigger, version_checkpoint, resource_version, fold_versions, write_time,
         keep_updated_at, advance_watermark, current_watermark, newest_watermark,
         current_timeline, has_history, recorded_columns, records_columns,
         create_deletions_table, install_deletions, remove_deletions, identifier_type, column_type,
         least_identifier, tally_facet, tally_items, tally_sums, create_tally_function, install_tally, tally_covers, remove_tally,
         relation_of, tracked_relations, untrackable, tracking_triggers, create_tracking_triggers, tracking_of,
         is_tracking_intact, check_trackable, create_counting_function, track_tally, create_change_tables,
         create_changes_function, track_changes, track_table, untime_changes, untrack_table, search_text,
         search_words, object_words, search_lexemes, search_query, install_words, remove_words, rebuild_words,
         search_language, search_lower, search_separators, keep_product_in_stock`,
    );
    await runner.query('DROP TABLE searches, tallies, resource_versions, watermark');
    await runner.query('DROP SEQUENCE watermark_floor');
  }
}
