/**
 * The migration that drops what the migrations of a resource have installed, if it has no objects. It also runs
 * where `catalogue drop` has dropped the table.
 *
 * @param {import('../names.js').Names} names
 * @param {readonly string[]} enums the types of its enumerations
 * @param {number} time when it is generated, in milliseconds since 1970
 */
export function removal({ resource: table, plural, words }, enums, time) {
  const statements = [
    `\`SELECT remove_deletions('${table}'), remove_tally('${table}'), remove_words('${table}')\``,
    `'DROP TABLE IF EXISTS "${table}"'`,
    ...enums.map((name) => `'DROP TYPE IF EXISTS "${name}"'`),
  ];
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';
import { checkWithoutObjects } from '../installed-resource.js';

export class Remove${plural}${time} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await checkWithoutObjects(runner, '${table}');
${statements.map((statement) => `    await runner.query(${statement});\n`).join('')}  }

  down(): Promise<void> {
    throw new Error('The ${words} are gone: restore them from a backup');
  }
}
`;
}
