import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { errors } from '../../http/errors.js';
import { columnTypeOf, valuesOf } from '../../resource/column-values.js';

/**
 * Reads the bounds of intervals of a column's values. Returns them in the public form of the column.
 *
 * @throws ApiError `-22` for what is no value of the column, or not above the bound before it
 */
export function readBounds(column: ColumnMetadata, texts: readonly string[]): string[] {
  const { read, expected } = valuesOf(column).cell(column);
  const bounds = texts.map((text) => {
    const bound = read(text);
    if (bound === undefined) {
      throw errors.parameterInvalid('bounds', `values separated by commas, each ${expected}`);
    }
    return bound;
  });
  const places = bounds.map((bound) => comparable(column, bound));
  if (places.every((place, at) => at === 0 || place > (places[at - 1] ?? place))) return bounds;
  throw errors.parameterInvalid('bounds', 'in ascending order, without repetitions');
}

/** What compares with that of another value of a column as the values do. */
function comparable(column: ColumnMetadata, text: string): number | bigint | string {
  switch (columnTypeOf(column)) {
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
