import type { DataSource } from 'typeorm';
import { resourcesWith } from '../resource/capabilities.js';
import { changesListIndex } from './parts/list-indexes.js';
import { literalStatements, withEnumDefaults, withWiderTypes } from './statement-corrections.js';

/** Statements that change a schema, and those that revert it, each in order of execution. */
export interface Changes {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/**
 * The statements by which TypeORM would bring the tables in line with the entities, except for the
 * indexes of lists, which it does not know: it has neither INCLUDE nor DESC. Only reads.
 */
export async function schemaChanges(dataSource: DataSource): Promise<Changes> {
  const { noDeprecation } = process;
  // TypeORM runs concurrent queries on one connection; node-postgres warns that this is deprecated.
  process.noDeprecation = true;
  try {
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    const tables = [...resourcesWith('written', dataSource).keys()];
    const isOfTypeORM = (statement: string): boolean => !changesListIndex(tables, statement);
    const { up, down } = withWiderTypes({
      up: literalStatements(dataSource, upQueries).filter(isOfTypeORM),
      down: literalStatements(dataSource, downQueries.reverse()).filter(isOfTypeORM),
    });
    return { up, down: await withEnumDefaults(dataSource, down) };
  } finally {
    process.noDeprecation = noDeprecation;
  }
}
