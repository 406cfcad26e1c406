import type { MigrationInterface, QueryRunner } from 'typeorm';

export class VariantsOfAName1795968737994 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

const UP: readonly string[] = [
  `CREATE INDEX "IDX_6b535afdf937083414edb872f1" ON "variants" ("name", "productID")`,
];

const DOWN: readonly string[] = [`DROP INDEX "IDX_6b535afdf937083414edb872f1"`];
