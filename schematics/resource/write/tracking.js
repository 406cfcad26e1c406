import { countedColumns } from './resource.js';

/**
 * The migration that lets triggers count the rows of a table of others, and keep the times of their changes. It changes nothing else there.
 *
 * @param {import('./resource.js').Resource} resource
 * @param {number} time when it is generated, in milliseconds since 1970; migrations run in this order
 */
export function tracking(resource, time) {
  const { names, identifier, external } = resource;
  if (!external) throw new TypeError('Only a table of others is tracked');
  const table = `"${external.schema}"."${external.name}"`;
  const counted = `{${countedColumns(resource).join()}}`;
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Track${names.plural}${time} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(
      \`SELECT track_table('${names.resource}', '${table}', '${identifier}', '${counted}', '{}')\`,
    );
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(\`${untrack(names)}\`);
  }
}
`;
}

/**
 * The migration that removes the triggers of the service from a table of others, and what they kept.
 *
 * @param {import('../names.js').Names} names
 * @param {number} time when it is generated, in milliseconds since 1970
 */
export function untracking(names, time) {
  return `import type { MigrationInterface, QueryRunner } from 'typeorm';

export class Untrack${names.plural}${time} implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(\`${untrack(names)}\`);
  }

  down(): Promise<void> {
    throw new Error('Generate ${names.words} again');
  }
}
`;
}

/** @param {import('../names.js').Names} names */
function untrack({ resource }) {
  return `SELECT untrack_table('${resource}')`;
}
