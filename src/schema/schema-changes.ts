import type { DataSource } from 'typeorm';

/** Statements that change a schema, and those that revert it, each in order of execution. */
export interface Changes {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** The statements by which TypeORM would bring the tables in line with the entities. Only reads. */
export async function schemaChanges(dataSource: DataSource): Promise<Changes> {
  const { noDeprecation } = process;
  // TypeORM runs concurrent queries on one connection; node-postgres warns that this is deprecated.
  process.noDeprecation = true;
  try {
    const { upQueries, downQueries } = await dataSource.driver.createSchemaBuilder().log();
    return {
      up: upQueries.map(({ query }) => query),
      down: downQueries.map(({ query }) => query).reverse(),
    };
  } finally {
    process.noDeprecation = noDeprecation;
  }
}
