import type { MigrationInterface, QueryRunner } from 'typeorm';

export class NaturalOrderOfNames1795990258264 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    for (const statement of UP) await runner.query(statement);
  }

  async down(runner: QueryRunner): Promise<void> {
    for (const statement of DOWN) await runner.query(statement);
  }
}

const UP: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS "typeorm_metadata" ("type" character varying NOT NULL, "database" character varying, "schema" character varying, "table" character varying, "name" character varying, "value" text)`,
  `ALTER TABLE "brands" ADD "nameOrder" character varying(500) GENERATED ALWAYS AS (natural_order("name")) STORED COLLATE "C" NOT NULL`,
  `INSERT INTO "typeorm_metadata"("database", "schema", "table", "type", "name", "value") VALUES (current_database(), current_schema(), 'brands', 'GENERATED_COLUMN', 'nameOrder', 'natural_order("name")')`,
  `ALTER TABLE "categories" ADD "nameOrder" character varying(500) GENERATED ALWAYS AS (natural_order("name")) STORED COLLATE "C" NOT NULL`,
  `INSERT INTO "typeorm_metadata"("database", "schema", "table", "type", "name", "value") VALUES (current_database(), current_schema(), 'categories', 'GENERATED_COLUMN', 'nameOrder', 'natural_order("name")')`,
  `ALTER TABLE "products" ADD "nameOrder" character varying(500) GENERATED ALWAYS AS (natural_order("name")) STORED COLLATE "C"`,
  `INSERT INTO "typeorm_metadata"("database", "schema", "table", "type", "name", "value") VALUES (current_database(), current_schema(), 'products', 'GENERATED_COLUMN', 'nameOrder', 'natural_order("name")')`,
];

const DOWN: readonly string[] = [
  `CREATE TABLE IF NOT EXISTS "typeorm_metadata" ("type" character varying NOT NULL, "database" character varying, "schema" character varying, "table" character varying, "name" character varying, "value" text)`,
  `DELETE FROM "typeorm_metadata" WHERE "type" = 'GENERATED_COLUMN' AND "name" = 'nameOrder' AND "database" = current_database() AND "schema" = current_schema() AND "table" = 'products'`,
  `ALTER TABLE "products" DROP COLUMN "nameOrder"`,
  `DELETE FROM "typeorm_metadata" WHERE "type" = 'GENERATED_COLUMN' AND "name" = 'nameOrder' AND "database" = current_database() AND "schema" = current_schema() AND "table" = 'categories'`,
  `ALTER TABLE "categories" DROP COLUMN "nameOrder"`,
  `DELETE FROM "typeorm_metadata" WHERE "type" = 'GENERATED_COLUMN' AND "name" = 'nameOrder' AND "database" = current_database() AND "schema" = current_schema() AND "table" = 'brands'`,
  `ALTER TABLE "brands" DROP COLUMN "nameOrder"`,
];
