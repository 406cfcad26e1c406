import type { DataSource, EntityMetadata } from 'typeorm';
import { joined, namesOf, separated } from '../../tally/facet.js';
import { isInstalled, tallyOf, tallyTables } from '../../tally/described-tally.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { type Difference, named, orMigration } from '../difference.js';
import { missingTriggers, namesArray, type Part, retypedColumns, TRIGGERS } from './part.js';

/**
 * What the tally does by the columns of each option, for an operator. Each is a column of the table `tallies` and an argument
 * of `install_tally`, in this order. Comparison and migrations follow from it. What triggers compare is in the view
 * `tally_orders`.
 */
export const TALLY_OPTIONS = {
  counted: 'counts',
  sorted: 'has ranges',
  searched: 'counts words',
  intervals: 'counts intervals',
} as const;

type Option = keyof typeof TALLY_OPTIONS;

/** The columns of each option, or combinations such as `categoryID+type`. */
type TallyColumns = Readonly<Record<Option, readonly string[]>>;

const OPTIONS = Object.keys(TALLY_OPTIONS) as Option[];

interface InstalledTally extends TallyColumns {
  /** What it counts by these: see `isInstalled`. */
  readonly orders: string;
  readonly triggers: readonly string[];
  /** Its tables, and their indexes. */
  readonly tables: readonly string[];
}

/** The tally of a resource with a table of its own: its tables, and the triggers that write to them. */
export const tally: Part<InstalledTally> = {
  async read(dataSource: DataSource) {
    const rows = await dataSource.query<({ resource: string } & InstalledTally)[]>(
      `SELECT resource, ${OPTIONS.join()}, orders::text, ${TRIGGERS} AS triggers, ARRAY(
         SELECT relname::text FROM pg_class
         WHERE relnamespace = current_schema()::regnamespace AND starts_with(relname, resource || '_tally')
       ) AS tables FROM tallies`,
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    const { tableName } = metadata;
    const declared = declaredTally(metadata);
    const remedy = orMigration(install(metadata, declared));
    if (!installed) return [{ text: `${tableName} has no tally`, remedy }];
    const writes = ['insert', 'update', 'delete', 'truncate'];
    const tables = tallyTables(metadata).map((quoted) => quoted.slice(1, -1));
    const missing = tables.filter((table) => !installed.tables.includes(table));
    if (missing.length > 0 && countsAsDeclared(metadata, installed)) {
      const text = `${tableName} has no table ${missing.join(', ')}`;
      return [{ text, remedy, affectsColumns: true }];
    }
    const isOutdated =
      countsAsDeclared(metadata, installed) && !isInstalled(metadata, installed.orders);
    const outdated = `the tally of ${tableName} was installed when columns had other types`;
    return [
      ...(isOutdated ? [{ text: outdated, remedy }] : []),
      ...missingTriggers(`${tableName}_tally`, writes, installed.triggers).map((trigger) => ({
        text: `${tableName} has no trigger ${trigger}`,
        remedy,
      })),
      ...OPTIONS.flatMap((option): Difference[] => {
        const [there, wanted] = [installed[option], declared[option]];
        if (haveSameNames(there, wanted)) return [];
        const text = `the tally of ${tableName} ${TALLY_OPTIONS[option]} by ${named(there)}, its entity by ${named(wanted)}`;
        const isSurplus = wanted.every((name) => there.includes(name));
        return [{ text, remedy, ...(isSurplus && { isSurplus }) }];
      }),
    ];
  },

  migrate(metadata, installed, { up, down }) {
    const { tableName: table } = metadata;
    const declared = declaredTally(metadata);
    const isSame = countsAsDeclared(metadata, installed);
    const ways = [
      { statements: up, former: installed, next: declared },
      { statements: down, former: declared, next: installed },
    ];
    for (const { statements, former, next } of ways) {
      // Its tables have columns of the same types.
      const columns = former ? OPTIONS.flatMap((option) => former[option]).flatMap(separated) : [];
      const isRetyped = retypedColumns(statements, table).some((name) => columns.includes(name));
      if (isSame && !isRetyped) continue;
      if (former && (isRetyped || !next)) {
        statements.first.unshift(`SELECT remove_tally('${table}')`);
      }
      // At the end, where its columns have the names that it counts by.
      if (next) statements.last.push(install(metadata, next));
    }
  },
};

/** What the tally of a resource counts by according to its entity. */
function declaredTally(metadata: EntityMetadata): TallyColumns {
  const { sorted, searched, items, intervals } = declaredColumns(metadata);
  const databaseNames = (properties: readonly string[]): string[] =>
    properties.map((name) => columnOf(metadata, name).databaseName);
  return {
    counted: [...tallyOf(metadata).byIdentifier.facets.map(namesOf), ...databaseNames(items)],
    sorted: databaseNames(sorted),
    searched: databaseNames(searched),
    intervals: intervals.map(({ of, within }) => joined(databaseNames([...within, of]))),
  };
}

/** Whether a tally counts what an entity declares, in any order of the names. */
export function countsAsDeclared(
  metadata: EntityMetadata,
  installed: TallyColumns | undefined,
): boolean {
  const declared = declaredTally(metadata);
  return (
    installed !== undefined &&
    OPTIONS.every((option) => haveSameNames(installed[option], declared[option]))
  );
}

/** Whether two lists have the same names, in any order. None is in a list twice. */
function haveSameNames(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((name) => other.includes(name));
}

/** The statement that creates the tally of a resource, or recreates it from the table. */
function install(metadata: EntityMetadata, tallied: TallyColumns): string {
  const columns = OPTIONS.map((option) => tallied[option]);
  // The last arguments are optional.
  while (columns.length > 1 && columns.at(-1)?.length === 0) columns.pop();
  const lists = columns.map(namesArray).join(', ');
  return `SELECT install_tally('${metadata.tableName}', '${identifierOf(metadata).databaseName}', ${lists})`;
}
