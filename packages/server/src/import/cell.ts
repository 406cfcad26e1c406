import type { ColumnMetadata } from 'typeorm/metadata/ColumnMetadata.js';
import { isSameNumber, JsonText } from '../resource/json-text.js';
import { valuesOf } from '../resource/column-values.js';
import type { CellFormat } from '../resource/json-cell.js';
import { hasNull } from './columns.js';
import { EMPTY_QUOTES } from './csv-reader.js';

/** A value as PostgreSQL reads it, or what it must be instead. */
export type CellReading = { readonly value: string | null } | { readonly mustBe: string };

/**
 * Makes the reader of a column's cells: the text of a CSV file, or any value of an NDJSON one.
 *
 * @throws TypeError for a column whose type cannot be imported
 */
export function cellReader(column: ColumnMetadata): (cell: unknown) => CellReading {
  const format = valuesOf(column).cell(column);
  const nothing = hasNull(column) ? { value: null } : { mustBe: 'given' };
  return (cell) => {
    if (cell === null) return nothing;
    if (cell === EMPTY_QUOTES) return format.read('') === undefined ? nothing : { value: '' };
    const value =
      cell instanceof JsonText
        ? readJsonText(format, cell)
        : format.read((cell as string | boolean).toString());
    return value === undefined
      ? { mustBe: format.expectedOf?.(cell) ?? format.expected }
      : { value };
  };
}

/** Reads a number by its text, and else as JavaScript writes it, if that is an equal number: `5` for `5.0`. */
function readJsonText({ read, readObject }: CellFormat, json: JsonText): string | undefined {
  if (typeof json.value !== 'number') return readObject?.(json);
  const text = String(json.value);
  return read(json.text) ?? (isSameNumber(json.text, text) ? read(text) : undefined);
}

/** A character that is not seen: of control or format, without a width, or a space other than the usual one. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/u;

/** Makes a reader refuse values that one sees as others. */
export function seenOnly(read: (cell: unknown) => CellReading): (cell: unknown) => CellReading {
  return (cell) => {
    const reading = read(cell);
    const mustBe =
      'value' in reading && reading.value !== null ? mustBeSeen(reading.value) : undefined;
    return mustBe === undefined ? reading : { mustBe };
  };
}

/** What an identifier must be instead, because one sees it as another text; `undefined` if one sees all of it. */
function mustBeSeen(identifier: string): string | undefined {
  const [invisible] = INVISIBLE.exec(identifier) ?? [];
  if (invisible !== undefined) {
    return `without ${codeOf(invisible)}, which is not seen (--allow-invisible takes it)`;
  }
  if (identifier.trim() === identifier) return undefined;
  return 'without white space at its ends (--allow-invisible takes it)';
}

/** A text in which one sees each character. */
export function withCodes(text: string): string {
  return text.replace(new RegExp(INVISIBLE, 'gu'), codeOf);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
