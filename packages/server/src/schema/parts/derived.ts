import { declaredColumns } from '../../resource/declaration.js';
import { named } from '../difference.js';
import type { Part } from './part.js';
import { wordColumns } from './words.js';

/** The columns that a column is made of, by its name. */
type Sources = ReadonlyMap<string, readonly string[]>;

/**
 * What PostgreSQL makes other columns of: generated columns, and words whose trigger an author has installed. A client that
 * does not see one of these columns sees no column that `derived` of `@Resource` makes of it, so that must name them all.
 */
export const derivedColumns: Part<Sources> = {
  async read(queries) {
    const rows = await queries.query<{ resource: string; column: string; made: string[] }[]>(
      `SELECT resource, 'words' AS column, columns AS made FROM searches
       UNION ALL
       SELECT relname, generated.attname, array_agg(DISTINCT source.attname::text)
       FROM pg_class
       JOIN pg_attribute generated ON generated.attrelid = pg_class.oid AND attgenerated <> ''
       JOIN pg_attrdef ON adrelid = pg_class.oid AND adnum = generated.attnum
       JOIN pg_depend ON classid = 'pg_attrdef'::regclass AND objid = pg_attrdef.oid
         AND refclassid = 'pg_class'::regclass AND refobjid = pg_class.oid
       JOIN pg_attribute source ON source.attrelid = pg_class.oid AND source.attnum = refobjsubid
       WHERE relnamespace = quote_ident(current_schema())::regnamespace AND source.attnum <> generated.attnum
       GROUP BY relname, generated.attname`,
    );
    const found = new Map<string, Map<string, readonly string[]>>();
    for (const { resource, column, made } of rows) {
      const ofResource = found.get(resource) ?? new Map<string, readonly string[]>();
      found.set(resource, ofResource.set(column, made));
    }
    return found;
  },

  differences(metadata, installed = new Map()) {
    const { derived } = declaredColumns(metadata);
    const propertyOf = (name: string): string =>
      metadata.columns.find(({ databaseName }) => databaseName === name)?.propertyName ?? name;
    return [...installed].flatMap(([column, sources]) => {
      if (column === 'words' && wordColumns(metadata)) return [];
      const name = propertyOf(column);
      const [made, declared] = [sources.map(propertyOf), derived[name]];
      if (!declared || made.every((source) => declared.includes(source))) return [];
      const text = `${metadata.tableName}.${name} is made of ${named(made)}, its entity derives it from ${named(declared)}`;
      return [{ text, remedy: 'name them all in derived of @Resource' }];
    });
  },

  statements: () => [],
};
