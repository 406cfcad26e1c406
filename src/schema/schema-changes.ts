import type { DataSource } from 'typeorm';

/** Statements that change a schema, and those that take it back, each in their order. */
export interface Changes {
  readonly up: readonly string[];
  readonly down: readonly string[];
}

/** What TypeORM would change so that the tables are as the entities say. Changes nothing. */
export async function schemaChanges(dataSource: DataSource): Promise<Changes> {
  const { noDeprecation } = process;
  // It asks several things of one connection at once, of which node-postgres warns on standard error.
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
