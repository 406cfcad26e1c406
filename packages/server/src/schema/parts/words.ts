import type { EntityMetadata } from 'typeorm';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf } from '../../resource/resource.js';
import { MIGRATE, named } from '../difference.js';
import { lackingTriggers, namesArray, type Part } from './part.js';

interface InstalledWords {
  /** The columns of the words, in the order of `install_words`. */
  readonly columns: readonly string[];
  /** Whether they are those of a former version. */
  readonly isStale: boolean;
  readonly lacking: readonly string[];
}

/** The trigger that sets the column `words` of an object from the columns that `derived` of `@Resource` names. */
export const words: Part<InstalledWords> = {
  async read(queries) {
    const rows = await queries.query<({ resource: string } & InstalledWords)[]>(
      `SELECT resource, columns, is_stale AS "isStale", ${lackingTriggers('words')} AS lacking FROM searches`,
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    const declared = wordColumns(metadata) ?? installed?.columns;
    const { tableName } = metadata;
    if (!declared || isAsDeclared(declared, installed)) return [];
    const text =
      installed && !haveSameOrder(installed.columns, declared)
        ? `the words of ${tableName} are made of ${named(installed.columns)}, its entity derives them from ${named(declared)}`
        : hasTrigger(installed)
          ? `the words of ${tableName} are those of a former version`
          : `${tableName} has no working trigger that sets its words`;
    // Only their title may be another one.
    const isSurplus =
      hasTrigger(installed) &&
      !installed?.isStale &&
      hasAll(declared, installed) &&
      !hasMore(declared, installed);
    return [{ text, remedy: MIGRATE, ...(isSurplus && { isSurplus }) }];
  },

  statements(metadata, installed, exact) {
    const declared = wordColumns(metadata) ?? installed?.columns;
    if (!declared || isAsDeclared(declared, installed)) return [];
    const { tableName } = metadata;
    // An instance of another release searches them. If they are made of more, the lists of this one are unavailable, since
    // a client could find what it does not see.
    if (!exact && hasTrigger(installed) && hasAll(declared, installed)) {
      return installed?.isStale ? [`SELECT rebuild_words('${tableName}')`] : [];
    }
    return [
      `SELECT install_words('${tableName}', ${namesArray(declared)})`,
      // As the installation of the trigger does.
      ...(hasTrigger(installed) ? [`SELECT rebuild_words('${tableName}')`] : []),
    ];
  },
};

/**
 * The columns from which the service derives the words of a resource, in the database; `undefined` if it does not, such as
 * where the words are a generated column.
 */
export function wordColumns(metadata: EntityMetadata): string[] | undefined {
  const column = metadata.columns.find(({ databaseName }) => databaseName === 'words');
  if (column?.type !== 'tsvector' || column.generatedType !== undefined) return undefined;
  return declaredColumns(metadata).derived[column.propertyName]?.map(
    (name) => columnOf(metadata, name).databaseName,
  );
}

/** Whether they are made of all declared columns. */
function hasAll(declared: readonly string[], installed: InstalledWords | undefined): boolean {
  return declared.every((name) => installed?.columns.includes(name));
}

/** Whether they are made of columns that are not declared. */
function hasMore(declared: readonly string[], installed: InstalledWords | undefined): boolean {
  return installed?.columns.some((name) => !declared.includes(name)) ?? false;
}

function hasTrigger(installed: InstalledWords | undefined): boolean {
  return installed?.lacking.length === 0;
}

function isAsDeclared(declared: readonly string[], installed: InstalledWords | undefined): boolean {
  const isCurrent = hasTrigger(installed) && !installed?.isStale;
  return isCurrent && haveSameOrder(installed?.columns ?? [], declared);
}

function haveSameOrder(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name, at) => other[at] === name);
}
