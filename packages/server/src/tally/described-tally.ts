import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { declaredColumns } from '../resource/declaration.js';
import { columnOf, identifierOf, isBroad } from '../resource/resource.js';
import { namesOf } from './facet.js';

/** A table of counts in one order, and that of the changes since. */
export interface Tally {
  /** As in the view `tally_orders`. */
  readonly kind: 'identifiers' | 'values' | 'cells' | 'words' | 'items';
  /** The tables, quoted. */
  readonly tally: string;
  readonly deltas: string;
  /** The columns that identify a row of the tally. */
  readonly key: string;
  /** The sorted or searched column, or the array; absent: the order of the identifier. */
  readonly column?: ColumnMetadata;
  /** The columns of its facets, besides that of all objects. Of an array, its items. */
  readonly facets: readonly (readonly ColumnMetadata[])[];
}

/**
 * An order in which the tally of a resource keeps ranges: by identifier, or by a sorted column and then
 * by identifier. The tally in the order of a column leaves out objects without a value.
 */
export interface TallyOrder extends Tally {
  readonly identifier: ColumnMetadata;
  /** The columns of the tables that name a range within its facet: `lowest`, or `value, lowest`. */
  readonly rangeKey: string;
  /** `rangeKey` for ORDER BY. The first range has no `value`. */
  readonly rangeKeyOrder: string;
}

/** The numbers of objects with an item of a counted array, by item and facet, and of those without one, whose word is null. */
export interface ItemTally extends Tally {
  readonly column: ColumnMetadata;
}

/** The numbers of objects in each cell of a column, by cell and facet. */
export interface CellTally extends ItemTally {
  /** The table of the lowest values of cells, quoted. */
  readonly bounds: string;
}

/** The numbers of objects with a common word in a searched column, by word and facet. */
export interface WordTally extends ItemTally {
  /** The table of the words that are counted, quoted. */
  readonly words: string;
}

/** The orders of a tally. */
interface DescribedTally {
  readonly byIdentifier: TallyOrder;
  /** One for each sorted column. They leave out objects without a value. */
  readonly byValue: readonly TallyOrder[];
  /** One for each column of the declared intervals. They leave out objects without a value. */
  readonly byCell: readonly CellTally[];
  /** One for each searched column. */
  readonly byWord: readonly WordTally[];
  /** One for each counted array. */
  readonly byItem: readonly ItemTally[];
}

/** An order of an installed tally, as the table `tallies` describes it. */
interface InstalledOrder {
  readonly kind: Tally['kind'];
  readonly of_column: string | null;
  /** The names of the columns of its facets: `namesOf`. */
  readonly elements: readonly string[];
  /** The arrays by whose items it counts, if there are any. */
  readonly arrays?: readonly string[];
  /** Whether it counts the objects whose array has no item. That of a former version does not. */
  readonly empty?: boolean;
}

const DESCRIBED = new WeakMap<EntityMetadata, DescribedTally>();

/**
 * The tally of a resource according to its entity. `tally_description` of `tally.sql` describes by the same rules what it
 * installs, and `isInstalled` compares both.
 */
export function tallyOf(metadata: EntityMetadata): DescribedTally {
  let described = DESCRIBED.get(metadata);
  if (!described) DESCRIBED.set(metadata, (described = describe(metadata)));
  return described;
}

export function everyOrder({
  byIdentifier,
  byValue,
  byCell,
  byWord,
  byItem,
}: DescribedTally): Tally[] {
  return [byIdentifier, ...byValue, ...byCell, ...byWord, ...byItem];
}

/** The tables of a resource's tally, quoted. */
export function tallyTables(metadata: EntityMetadata): string[] {
  const described = tallyOf(metadata);
  return [
    ...everyOrder(described).flatMap(({ tally, deltas }) => [tally, deltas]),
    ...described.byCell.map(({ bounds }) => bounds),
    ...described.byWord.map(({ words }) => words),
  ];
}

/** The tally of the items of an array; `undefined` if they are not counted. */
export function itemTallyOf(metadata: EntityMetadata, name: string): ItemTally | undefined {
  return tallyOf(metadata).byItem.find(({ column }) => column.propertyName === name);
}

/** The tally of the cells of a column; `undefined` if none of its intervals are declared. */
export function cellTallyOf(metadata: EntityMetadata, name: string): CellTally | undefined {
  return tallyOf(metadata).byCell.find(({ column }) => column.propertyName === name);
}

/** The tally that knows the counts of a search; `undefined` if none does, as for a beginning of a word. */
export function wordTallyOf(
  metadata: EntityMetadata,
  { column, beginnings }: { readonly column: string; readonly beginnings: readonly string[] },
): WordTally | undefined {
  if (beginnings.length > 0) return undefined;
  return tallyOf(metadata).byWord.find((each) => each.column.databaseName === column);
}

function describe(metadata: EntityMetadata): DescribedTally {
  const { counted, sorted, searched, items, intervals } = declaredColumns(metadata);
  const identifier = identifierOf(metadata);
  const columnsOf = (names: readonly string[]): ColumnMetadata[] =>
    names.map((name) => columnOf(metadata, name));
  const isRare = ({ propertyName }: ColumnMetadata): boolean => !isBroad(metadata, propertyName);
  const facets = counted.map(columnsOf);
  const single = facets.filter(({ length }) => length === 1);
  const broad = single.filter((columns) => !columns.some(isRare));
  const byItself = [...single, ...columnsOf(items).map((column) => [column])];
  const ofWords = { key: 'word, facet' };
  return {
    byIdentifier: {
      ...tablesOf(metadata),
      kind: 'identifiers',
      facets,
      identifier,
      key: 'facet, lowest',
      rangeKey: 'lowest',
      rangeKeyOrder: 'lowest',
    },
    byValue: columnsOf(sorted).map((column) => ({
      ...tablesOf(metadata, column),
      kind: 'values',
      facets: broad,
      identifier,
      column,
      key: 'facet, value, lowest',
      rangeKey: 'value, lowest',
      rangeKeyOrder: 'value NULLS FIRST, lowest',
    })),
    byCell: columnsOf([...new Set(intervals.map(({ of }) => of))]).map((column) => {
      const tables = tablesOf(metadata, column, '_cells');
      const within = intervals.filter(({ of }) => of === column.propertyName);
      const combined = within.flatMap((each) => (each.within ? [columnsOf(each.within)] : []));
      const facets = [...byItself, ...combined];
      const bounds = beside(tables, '_bounds');
      return { ...tables, ...ofWords, kind: 'cells', facets, column, bounds };
    }),
    byWord: columnsOf(searched).map((column) => {
      const tables = tablesOf(metadata, column);
      const words = beside(tables, '_counted');
      return { ...tables, ...ofWords, kind: 'words', facets: byItself, column, words };
    }),
    byItem: columnsOf(items).map((column) => ({
      ...tablesOf(metadata, column),
      ...ofWords,
      kind: 'items',
      // Of others, such as `categoryID+brandID`, nearly every object has its own.
      facets: facets.filter((columns) => columns.filter(isRare).length <= 1),
      column,
    })),
  };
}

/** The tables of an order, quoted. */
function tablesOf(
  { tableName }: EntityMetadata,
  column?: ColumnMetadata,
  kind = '',
): Pick<Tally, 'tally' | 'deltas'> {
  const table = `${tableName}_tally${kind}${column ? `_by_${column.databaseName}` : ''}`;
  return { tally: `"${table}"`, deltas: `"${table}_deltas"` };
}

/** A further table of an order, quoted. */
function beside({ tally }: Pick<Tally, 'tally'>, suffix: string): string {
  return `${tally.slice(0, -1)}${suffix}"`;
}

/** The last description of each resource that `isInstalled` has compared. */
const COMPARED = new WeakMap<EntityMetadata, { description: string; isInstalled: boolean }>();

/**
 * Whether an installed tally has every facet of the one that an entity declares. It may have more.
 *
 * @param description the column `orders` of the table `tallies`, as text; null if there is no tally
 */
export function isInstalled(
  metadata: EntityMetadata,
  description: string | null | undefined,
): boolean {
  if (!description) return false;
  const compared = COMPARED.get(metadata);
  if (compared?.description === description) return compared.isInstalled;
  const installed = JSON.parse(description) as InstalledOrder[];
  const has = everyOrder(tallyOf(metadata)).every(({ kind, column, facets }) =>
    installed.some(
      (order) =>
        order.kind === kind &&
        (kind !== 'items' || order.empty === true) &&
        order.of_column === (column?.databaseName ?? null) &&
        facets.every((columns) =>
          [...order.elements, ...(order.arrays ?? [])].includes(namesOf(columns)),
        ),
    ),
  );
  COMPARED.set(metadata, { description, isInstalled: has });
  return has;
}
