import type { EntityMetadata } from 'typeorm';
import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { OBJECTS_PER_LOOKUP } from '../../database/planner.js';
import type { ParameterValues } from '../../database/statement.js';
import { columnOf } from '../../resource/resource.js';
import { onlyNamed } from '../condition/words.js';
import type { WordSearch } from '../condition/condition.js';
import {
  areEqualities,
  type Criteria,
  facetsOf,
  type Interval,
  type Item,
  onlyInterval,
} from '../statement/criteria.js';
import { isItem } from '../statement/tallied-counts.js';
import {
  aroundValue,
  countedWord,
  countOf,
  type Facet,
  facetAround,
  facetBounds,
  facetName,
  facetNames,
  lastValue,
  tallyRows,
} from '../../tally/facet.js';
import {
  type CellTally,
  cellTallyOf,
  type ItemTally,
  itemTallyOf,
  tallyOf,
  wordTallyOf,
} from '../../tally/described-tally.js';

/** The counts of a field's values as the tally has them. */
interface ValueCounts {
  /** A query of `value`, a text, and `count`. */
  readonly query: string;
  /**
   * If it holds, the query has no rows, and the objects have to be scanned. Absent: the tally always has the
   * counts.
   */
  readonly unless?: string;
}

/** A field, and its place among those that are counted. */
export interface Field {
  readonly name: string;
  readonly at: number;
}

/** Facets of the cells of a column, of which an interval consists. */
export interface CellFacets {
  readonly order: CellTally;
  readonly interval: Interval;
  /** `facetBounds` of the facets of the field's values, with each combination of the other values. */
  readonly bounds: readonly (readonly [first: string, end: string])[];
}

/** SQL for the values of a counted column in the row `object`, in FROM: the table `of_object` of `value`. */
export function valueOf({ databaseName, isArray }: ColumnMetadata): string {
  const column = `object."${databaseName}"`;
  return isArray
    ? `(SELECT DISTINCT item::text AS value FROM unnest(${column}) item WHERE item IS NOT NULL) of_object`
    : `(SELECT ${column}::text AS value WHERE ${column} IS NOT NULL) of_object`;
}

/** Takes the counts of values from the tally of a resource. */
export class TalliedValues {
  /** Common table expressions, by name. The queries refer to them. */
  readonly tables = new Map<string, string>();

  constructor(
    private readonly metadata: EntityMetadata,
    private readonly values: ParameterValues,
  ) {}

  /**
   * The counts of a field's values among the objects that meet criteria; `undefined` if the tally never has
   * them. The criteria say something.
   */
  of(field: string, criteria: Criteria): ValueCounts | undefined {
    const { equal, search, item } = criteria;
    const isMore = !areEqualities({ ...criteria, search: undefined, item: undefined });
    if (isMore || equal.has(field)) return undefined;
    if (search) return equal.size === 0 && !item ? this.byWord(field, search) : undefined;
    const items = itemTallyOf(this.metadata, field);
    if (items) return item ? undefined : this.itemsOf(items, equal);
    if (item) return equal.size === 0 ? this.byItem(field, item) : undefined;
    // The value of the field is empty: the names of its facets have another one there.
    const facets = facetsOf(this.metadata, new Map([...equal, [field, ['']]]));
    if (!facets) return undefined;
    return facets.every(({ columns }) => columns.at(-1)?.propertyName === field)
      ? this.byPrefix(facets)
      : this.byLookup(field, facets, facetsOf(this.metadata, equal));
  }

  /** A query of `at`, `value` and `count` for all values of fields. */
  every(fields: readonly Field[]): string {
    const queries: string[] = [];
    const names: string[] = [];
    for (const { name, at } of fields) {
      const items = itemTallyOf(this.metadata, name);
      if (items) {
        const { query } = this.itemsOf(items, new Map()) ?? { query: '' };
        queries.push(`SELECT ${at} AS at, value, count FROM (${query}) items`);
        continue;
      }
      const [first, end] = facetBounds([columnOf(this.metadata, name)]);
      names.push(`(${at}, '${first}', '${end}')`);
    }
    if (names.length > 0) {
      const order = tallyOf(this.metadata).byIdentifier;
      const rows = tallyRows(order, 'WHERE facet >= prefix AND facet < upto');
      queries.push(`SELECT at, ${lastValue('prefix')} AS value, sum(count)::bigint AS count
        FROM (VALUES ${names.join(', ')}) AS name(at, prefix, upto) CROSS JOIN LATERAL ${rows}
        GROUP BY at, prefix, facet`);
    }
    return queries.join('\nUNION ALL ');
  }

  /** The items of an array among all objects, or those with values of a counted combination. */
  private itemsOf(items: ItemTally, equal: Criteria['equal']): ValueCounts | undefined {
    const facets = facetsOf(this.metadata, equal, items);
    if (!facets) return undefined;
    const rows = tallyRows(items, `WHERE facet = ANY(${facetNames(facets, this.values)})`);
    return {
      query: `SELECT word AS value, sum(count)::bigint AS count FROM ${rows} WHERE word IS NOT NULL GROUP BY word`,
    };
  }

  /** The values among the objects with an item in an array. */
  private byItem(field: string, { column, value }: Item): ValueCounts | undefined {
    const items = itemTallyOf(this.metadata, column);
    if (!items) return undefined;
    const [first, end] = facetBounds([columnOf(this.metadata, field)]);
    const isOfItem = isItem(value, this.values);
    const rows = tallyRows(items, `WHERE ${isOfItem} AND facet >= '${first}' AND facet < '${end}'`);
    return {
      query: `SELECT ${lastValue(`'${first}'`)} AS value, sum(count)::bigint AS count
        FROM ${rows} GROUP BY facet`,
    };
  }

  /** The values among the objects with a word, if it is a counted one. */
  private byWord(field: string, search: WordSearch): ValueCounts | undefined {
    const words = wordTallyOf(this.metadata, search);
    if (!words) return undefined;
    if (!this.tables.has('searched')) {
      this.tables.set('searched', countedWord(words, search.words, false, this.values));
    }
    const named = onlyNamed(search, this.values);
    const counted = columnOf(this.metadata, field);
    const [first, end] = facetBounds([counted]);
    const others =
      named === undefined
        ? ''
        : `UNION ALL SELECT '${first}' || value, 1 FROM object CROSS JOIN searched
           CROSS JOIN LATERAL ${valueOf(counted)} WHERE ${named}`;
    const [tallied, since] = [words.tally, words.deltas].map(
      (table) =>
        `SELECT facet, count FROM searched JOIN ${table} USING (word)
         WHERE facet >= '${first}' AND facet < '${end}'`,
    );
    return {
      query: `SELECT ${lastValue(`'${first}'`)} AS value, sum(count)::bigint AS count
        FROM (${tallied} UNION ALL ${since} ${others}) every GROUP BY facet`,
      unless: '(SELECT count(*) FROM searched) = 0',
    };
  }

  /**
   * Which facets of the cells of a column count a field's values among the objects in an interval; `undefined` if there are
   * none.
   */
  inCells(field: string, criteria: Criteria): CellFacets | undefined {
    const interval = onlyInterval(criteria);
    const { equal } = criteria;
    const order = interval && cellTallyOf(this.metadata, interval.column);
    if (!order || equal.has(field)) return undefined;
    const facets = facetsOf(this.metadata, new Map([...equal, [field, ['']]]), order);
    if (facets?.[0]?.columns.at(-1)?.propertyName !== field) return undefined;
    const bounds = facets.map(({ columns, values }) => facetBounds(columns, values));
    return { order, interval, bounds };
  }

  /** The values of the last column of facets: their names begin alike. */
  private byPrefix(facets: readonly Facet[]): ValueCounts {
    const bounds = facets.map(({ columns, values }) => facetBounds(columns, values));
    const prefix = `${this.values.add(bounds.map(([first]) => first))}::text[]`;
    const upto = `${this.values.add(bounds.map(([, end]) => end))}::text[]`;
    const order = tallyOf(this.metadata).byIdentifier;
    const rows = tallyRows(order, 'WHERE facet >= name.prefix AND facet < name.upto');
    return {
      query: `SELECT ${lastValue('prefix')} AS value, sum(count)::bigint AS count
        FROM unnest(${prefix}, ${upto}) AS name(prefix, upto) CROSS JOIN LATERAL ${rows} GROUP BY 1`,
    };
  }

  /**
   * The values of another column of facets. Each value that there is gets looked up, unless it takes longer
   * than to count the objects.
   *
   * @param total the facets of all these objects, if the tally has them
   */
  private byLookup(
    field: string,
    facets: readonly Facet[],
    total: readonly Facet[] | undefined,
  ): ValueCounts {
    const parts = facets.map((facet) =>
      aroundValue(
        facet,
        facet.columns.findIndex(({ propertyName }) => propertyName === field),
      ),
    );
    const before = `${this.values.add(parts.map(([text]) => text))}::text[]`;
    const behind = `${this.values.add(parts.map(([, text]) => text))}::text[]`;
    const order = tallyOf(this.metadata).byIdentifier;
    const every = `values_${this.tables.size}`;
    this.tables.set(every, this.every([{ name: field, at: 0 }]));
    const name = facetAround('before', 'value', 'behind');
    const lookups = `SELECT value, sum(found)::bigint AS count
      FROM ${every} CROSS JOIN unnest(${before}, ${behind}) AS name(before, behind)
      CROSS JOIN LATERAL (
        SELECT sum(count) AS found FROM ${tallyRows(order, `WHERE facet = ${name}`)}
      ) lookup`;
    if (!total) return { query: `${lookups} GROUP BY value` };
    const few = `few_${this.tables.size}`;
    this.tables.set(
      few,
      `SELECT ${countOf(order, this.values.add(total.map(facetName)))}
        < ${OBJECTS_PER_LOOKUP * facets.length} * (SELECT count(*) FROM ${every}) AS holds`,
    );
    const unless = `(SELECT holds FROM ${few})`;
    return { query: `${lookups} WHERE NOT ${unless} GROUP BY value`, unless };
  }
}
