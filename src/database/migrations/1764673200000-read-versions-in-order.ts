import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Keeps a lookup of versions from reading every checkpoint that was deleted while an older snapshot is open. Once
 * `resource_versions` is analysed, it has few rows for the planner, which then sorts them by a bitmap scan. That visits
 * the deleted ones, too: one page more for each second. Only a scan of the index in its order ends at the newest
 * checkpoint.
 */
export class ReadVersionsInOrder1764673200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER FUNCTION resource_version(text[]) SET enable_bitmapscan = off');
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER FUNCTION resource_version(text[]) RESET enable_bitmapscan');
  }
}
