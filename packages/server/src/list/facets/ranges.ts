import { ParameterValues } from '../../database/statement.js';
import type { InvalidValue } from '../../http/parameters/declared-parameters.js';
import {
  columnTypeOf,
  sqlTypeOf,
  type TypeOfColumn,
  valuesOf,
} from '../../resource/column-values.js';
import { columnOf } from '../../resource/resource.js';
import { TallyRanks } from '../../tally/ranks.js';
import { presence } from '../condition/filters.js';
import { whereOf } from '../condition/print.js';
import { mustBe } from '../query/parameters.js';
import { areEqualities, criteriaOf } from '../statement/criteria.js';
import { sortedObjects, talliedBy } from '../statement/tallied-counts.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { conditionsBeside, type Rows } from './counted-values.js';

/**
 * Reads the bounds of intervals of a column's values, each above the one before it. Returns them in the public form
 * of the column.
 */
export function readBounds(type: TypeOfColumn, texts: readonly string[]): string[] | InvalidValue {
  const { read, expected } = valuesOf(type).cell(type);
  const bounds = texts.flatMap((text) => read(text) ?? []);
  if (bounds.length < texts.length) return mustBe(`values separated by commas, each ${expected}`);
  const places = bounds.map((bound) => comparable(type, bound));
  return places.every((place, at) => at === 0 || place > (places[at - 1] ?? place))
    ? bounds
    : mustBe('in ascending order, without repetitions');
}

/** What compares with that of another value of a column as the values do. */
function comparable(type: TypeOfColumn, text: string): number | bigint | string {
  switch (columnTypeOf(type)) {
    case 'double':
      return Number(text);
    case 'integer':
    case 'bigint':
    case 'decimal': {
      // As an integer, so that no digit is lost. No decimal has more than 100 digits.
      const [whole = '', fraction = ''] = text.split('.');
      return BigInt(whole + fraction.padEnd(100, '0'));
    }
    default:
      // Dates and times have all digits of their years.
      return text;
  }
}

/**
 * A query of the limits of a column: `place`, `value`, the least and the greatest value in the public form, and `count`,
 * the number of matching objects with a value. It has no row if there is none.
 */
export function limitsOf(list: VisibleListing, name: string, values: ParameterValues): Rows {
  const { metadata } = list.repository;
  const column = columnOf(metadata, name);
  const reference = `object."${column.databaseName}"`;
  const matching = [...conditionsBeside(list, name), presence(column, true)];
  const where = whereOf(matching, { metadata, values });
  const shown = (limit: string): string => valuesOf(column).publicForm?.(limit) ?? limit;
  const value = `${shown('least')} || '..' || ${shown('greatest')}`;
  const { tallied } = talliedBy(metadata, matching);
  // With a count of the tally, an index has the limits at its ends. Otherwise every object has to be read.
  const known = tallied?.isSure ? tallied.sql({ where, values }) : undefined;
  const found = known
    ? `SELECT (SELECT min(${reference}) FROM object ${where}) AS least,
         (SELECT max(${reference}) FROM object ${where}) AS greatest, ${known.total} AS count`
    : `SELECT min(${reference}) AS least, max(${reference}) AS greatest, count(*) AS count FROM object ${where}`;
  return {
    tables: known?.tables ?? [],
    query: `SELECT 1 AS place, ${value} AS value, count FROM (${found}) limits WHERE count > 0`,
  };
}

/**
 * A query of the intervals between bounds: `place`, `value`, such as `10..50`, and `count`, the number of matching objects
 * whose value is at the lower bound or above it, and below the upper one.
 *
 * @param bounds texts in the public form, in ascending order
 */
export function intervalsOf(
  list: VisibleListing,
  name: string,
  bounds: readonly string[],
  values: ParameterValues,
): Rows {
  const { metadata } = list.repository;
  const column = columnOf(metadata, name);
  const type = sqlTypeOf(column);
  const others = conditionsBeside(list, name);
  const labels = ['', ...bounds].map((lower, at) => `${lower}..${bounds[at] ?? ''}`);
  const label = `(${values.addTyped(labels, 'text[]')})[place]`;
  const criteria = criteriaOf(others, metadata);
  const isKnown = criteria !== undefined && areEqualities(criteria);
  const objects = isKnown ? sortedObjects(metadata, name, criteria) : undefined;
  if (objects) {
    const ranks = new TallyRanks(objects, values);
    const below = bounds.map((bound, at) => {
      const count = ranks.below(`(${values.addTyped(bound, type)})`, false);
      return `(${at + 1}, ${count})`;
    });
    const every = [...below, `(${bounds.length + 1}, ${ranks.total})`].join(', ');
    return {
      tables: ranks.tables,
      query: `SELECT place, ${label} AS value, below - coalesce(lag(below) OVER (ORDER BY place), 0) AS count
        FROM (VALUES ${every}) bounded(place, below)`,
    };
  }
  const reference = `object."${column.databaseName}"`;
  const bucket = `1 + width_bucket(${reference}, ${values.addTyped(bounds, `${type}[]`)})`;
  const where = whereOf([...others, presence(column, true)], { metadata, values });
  return {
    tables: [],
    query: `SELECT place, ${label} AS value, coalesce(count, 0) AS count
      FROM generate_series(1, ${labels.length}) AS every(place)
      LEFT JOIN (SELECT ${bucket} AS place, count(*) AS count FROM object ${where} GROUP BY 1) filled USING (place)`,
  };
}
