import type { DataSource } from 'typeorm';
import { resourcesWith } from '../resource/capabilities.js';
import { type Difference, MIGRATION } from './difference.js';
import { schemaChanges } from './schema-changes.js';

/** Compares the tables of the service with the entities. */
export async function tableDifferences(dataSource: DataSource): Promise<Difference[]> {
  const resources = resourcesWith('written', dataSource);
  const { up } = await schemaChanges(dataSource);
  return up.map((statement) => {
    const [, table = ''] = /^(?:CREATE|ALTER) TABLE (?:"\w+"\.)?"(\w+)"/.exec(statement) ?? [];
    const affectsColumns = resources.has(table) && !/ (ADD|DROP) CONSTRAINT /.test(statement);
    const isSurplus = SURPLUS.test(statement);
    return {
      text: `the schema is not as declared, this is lacking: ${statement}`,
      remedy: MIGRATION,
      ...(affectsColumns && !isSurplus && { resource: table, affectsColumns }),
      ...(isSurplus && { isSurplus }),
    };
  });
}

/** Statements that remove what the entities do not declare. */
const SURPLUS = /^DROP INDEX |^ALTER TABLE \S+ DROP (COLUMN|CONSTRAINT) /;
