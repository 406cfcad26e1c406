/**
 * Creates a table for each resource of the project that lists an external table, with the columns that its
 * entity declares and every index that a filter or a sort may need. Without it, the service would not be
 * ready in any test.
 *
 * @param {(path: string) => Promise<any>} load imports a module of the service
 * @param {import('typeorm').DataSource} dataSource of the application, on a migrated database
 */
export async function createStandIns(load, dataSource) {
  const { resourcesOf, externalTableOf } = await load('resource/resource.js');
  for (const metadata of resourcesOf(dataSource).values()) {
    const external = externalTableOf(metadata);
    if (!external) continue;
    for (const statement of statementsOf(metadata, external)) await dataSource.query(statement);
  }
}

/**
 * @param {import('typeorm').EntityMetadata} metadata
 * @param {{ schema: string, name: string }} external
 */
function statementsOf({ columns }, { schema, name }) {
  const table = `"${schema}"."${name}"`;
  const stored = columns.filter(({ isVirtualProperty }) => !isVirtualProperty);
  const enums = stored.filter(({ type }) => type === 'enum');
  const key = columns.find(({ isPrimary }) => isPrimary).databaseName;
  const enumName = ({ databaseName }) => `"${schema}"."${name}_${databaseName}"`;
  const definitions = stored.map((column) => {
    const { databaseName, type, length, isArray, isNullable, isPrimary } = column;
    // The contract of lists is in the order of bytes.
    const collation = ['varchar', 'text'].includes(type) && !isArray ? ' COLLATE "C"' : '';
    const base = type === 'enum' ? enumName(column) : `${type}${length ? `(${length})` : ''}`;
    const constraint = isPrimary ? ' PRIMARY KEY' : isNullable ? '' : ' NOT NULL';
    return `"${databaseName}" ${base}${isArray ? '[]' : ''}${collation}${constraint}`;
  });
  const indexes = stored.flatMap(({ databaseName: column, type, isArray, isPrimary }) => {
    if (isPrimary || type === 'jsonb') return [];
    if (isArray) return [`USING gin ("${column}")`];
    return [`("${column}", "${key}")`];
  });
  return [
    `CREATE SCHEMA IF NOT EXISTS "${schema}"`,
    ...enums.map(
      (column) =>
        `CREATE TYPE ${enumName(column)} AS ENUM (${column.enum.map((value) => `'${value}'`).join(', ')})`,
    ),
    `CREATE TABLE ${table} (${definitions.join(', ')})`,
    ...indexes.map((columns) => `CREATE INDEX ON ${table} ${columns}`),
  ];
}
