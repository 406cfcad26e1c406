import type { INestApplicationContext } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pendingMigrations } from '../database/migrate.js';
import { plannedParts } from '../schema/install-parts.js';

/**
 * What `catalogue migrate` would do, as lines: the pending migrations, and the statements that install and remove parts, each
 * with the size of the table that it reads.
 */
export async function plannedChanges(application: INestApplicationContext): Promise<string[]> {
  const dataSource = application.get(DataSource);
  const pending = await pendingMigrations(dataSource);
  const lines = pending.map((name) => `Apply the migration ${name}`);
  // Without its functions, what is installed cannot be read.
  if (pending.some((name) => name.startsWith('engine ')))
    return [...lines, 'Then install what the resources declare, where it is lacking'];
  const { parts, leftOut } = await plannedParts(dataSource, dataSource, true);
  for (const { resource, name, differences, statements, isConcurrent } of parts) {
    const [{ size }] = await dataSource.query<[{ size: string }]>(
      'SELECT pg_size_pretty(pg_table_size(quote_ident($1))) AS size',
      [resource],
    );
    const lock = isConcurrent ? 'lists and writers go on' : 'lists and writers wait';
    lines.push(
      `Install the ${name} of ${resource} (${size}, ${lock}), since`,
      ...differences.map((text) => `  ${text}`),
      'by',
      ...statements.map((statement) => `  ${statement}`),
    );
  }
  // A table that a pending migration changes is not as declared until then.
  if (pending.length === 0) lines.push(...leftOut);
  else lines.push('What the pending migrations make necessary comes after them');
  return lines.length > 0 ? lines : ['There is nothing to do'];
}
