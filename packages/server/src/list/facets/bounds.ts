import type { InvalidValue } from '../../http/parameters/declared-parameters.js';
import { columnTypeOf, type TypeOfColumn, valuesOf } from '../../resource/column-values.js';
import { mustBe } from '../query/parameters.js';

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
