import type { EntityMetadata } from 'typeorm';
import { joined, namesOf, separated } from '../../tally/facet.js';
import { isInstalled, tallyOf, tallyTables } from '../../tally/described-tally.js';
import { declaredColumns } from '../../resource/declaration.js';
import { columnOf, identifierOf } from '../../resource/resource.js';
import { type Difference, MIGRATE, named } from '../difference.js';
import { lackingTriggers, namesArray, namesBeside, type Part } from './part.js';

/**
 * What the tally does by the columns of each option, for an operator. Each is a column of the table `tallies` and an argument
 * of `install_tally`, in this order. Comparison and installation follow from it. What triggers compare is in the view
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
  /** Whether the columns had other types when it was installed. */
  readonly isStale: boolean;
  /** The columns of the table. */
  readonly present: readonly string[];
  readonly lacking: readonly string[];
  /** Its tables, and their indexes. */
  readonly tables: readonly string[];
}

/** The tally of a resource with a table of its own: its tables, and the triggers that write to them. */
export const tally: Part<InstalledTally> = {
  async read(queries) {
    const rows = await queries.query<({ resource: string } & InstalledTally)[]>(
      `SELECT resource, ${OPTIONS.join()}, orders::text, ${lackingTriggers('tally')} AS lacking,
       NOT (orders @> described AND orders <@ described) AS "isStale", ARRAY(
         SELECT attname::text FROM pg_attribute
         WHERE attrelid = to_regclass(quote_ident(resource)) AND attnum > 0 AND NOT attisdropped
       ) AS present, ARRAY(
         SELECT relname::text FROM pg_class
         WHERE relnamespace = quote_ident(current_schema())::regnamespace AND starts_with(relname, resource || '_tally')
       ) AS tables
       FROM tallies CROSS JOIN LATERAL tally_description(resource, ${OPTIONS.join()}) described`,
    );
    return new Map(rows.map((row) => [row.resource, row]));
  },

  differences(metadata, installed) {
    const { tableName } = metadata;
    const declared = declaredTally(metadata);
    const remedy = MIGRATE;
    if (!installed) return [{ text: `${tableName} has no tally`, remedy }];
    const missing = missingTables(metadata, installed);
    if (missing.length > 0 && countsAsDeclared(metadata, installed)) {
      const text = `${tableName} has no table ${missing.join(', ')}`;
      return [{ text, remedy, affectsColumns: true }];
    }
    const isOutdated =
      countsAsDeclared(metadata, installed) && !isInstalled(metadata, installed.orders);
    const outdated = `the tally of ${tableName} was installed by a former version, or when columns had other types`;
    return [
      ...(isOutdated ? [{ text: outdated, remedy }] : []),
      ...installed.lacking.map((trigger) => ({
        text: `${tableName} has no working trigger ${trigger}`,
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

  statements(metadata, installed, exact) {
    const declared = declaredTally(metadata);
    if (!installed) return [install(metadata, declared)];
    const wanted = exact ? declared : withInstalled(declared, installed);
    const isWhole =
      !installed.isStale &&
      OPTIONS.every((option) => haveSameNames(installed[option], wanted[option])) &&
      missingTables(metadata, installed).length === 0 &&
      installed.lacking.length === 0;
    return isWhole ? [] : [install(metadata, wanted)];
  },
};

/** The declared columns, and those that are installed beside them and still there. */
function withInstalled(declared: TallyColumns, installed: InstalledTally): TallyColumns {
  const entries = OPTIONS.map((option) => {
    const further = namesBeside(installed[option], declared[option]);
    const isThere = (name: string): boolean => installed.present.includes(name);
    return [
      option,
      [...declared[option], ...further.filter((name) => separated(name).every(isThere))],
    ];
  });
  return Object.fromEntries(entries) as TallyColumns;
}

/** The declared tables that are not there. */
function missingTables(metadata: EntityMetadata, { tables }: InstalledTally): string[] {
  const declared = tallyTables(metadata).map((quoted) => quoted.slice(1, -1));
  return namesBeside(declared, tables);
}

/** What the tally of a resource counts by according to its entity. */
function declaredTally(metadata: EntityMetadata): TallyColumns {
  const { sorted, searched, items, intervals } = declaredColumns(metadata);
  const databaseNames = (properties: readonly string[]): string[] =>
    properties.map((name) => columnOf(metadata, name).databaseName);
  return {
    counted: [...tallyOf(metadata).byIdentifier.facets.map(namesOf), ...databaseNames(items)],
    sorted: databaseNames(sorted),
    searched: databaseNames(searched),
    intervals: intervals.map(({ of, within = [] }) => joined(databaseNames([...within, of]))),
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
