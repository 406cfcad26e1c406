import { namesArray, type Part, retypedColumns } from './part.js';

/** The trigger that sets the words of an object, by the columns of those words. A migration by hand installs it. */
export const words: Part<readonly string[]> = {
  async read(dataSource) {
    const rows = await dataSource.query<{ resource: string; columns: string[] }[]>(
      'SELECT resource, columns FROM searches',
    );
    return new Map(rows.map(({ resource, columns }) => [resource, columns]));
  },

  differences: () => [],

  migrate({ tableName: table }, columns = [], { up, down }) {
    for (const statements of [up, down]) {
      const retyped = retypedColumns(statements, table);
      if (!retyped.some((column) => columns.includes(column))) continue;
      // No type of a column changes that a trigger names.
      statements.first.unshift(`SELECT remove_words('${table}')`);
      statements.last.push(`SELECT install_words('${table}', ${namesArray(columns)})`);
    }
  },
};
