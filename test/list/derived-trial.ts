type Row = Readonly<Record<string, unknown>>;

/** A filter with a value, and which objects it keeps. */
export interface Trial {
  readonly value: string;
  readonly keeps: (row: Row) => boolean;
  /** An invalid value; absent for a filter that accepts any text. */
  readonly bad?: string;
}

/** A parameter as `OPTIONS` describes it. */
export interface DescribedParameter {
  readonly name: string;
  readonly type: string;
  readonly allowedValues: readonly string[] | null;
}

/**
 * The trial of a filter whose name says what it compares: `name` and `nameNot` with the column `name`,
 * `nameExists`, `nameMin` and `nameMax`, `nameSince` and `nameUntil` with `nameAt`. Its value is chosen so
 * that it keeps some of the objects and not all.
 *
 * @throws Error if the name does not say it, or if no value keeps some of the objects
 */
export function derivedTrial(
  { name, type, allowedValues }: DescribedParameter,
  rows: readonly Row[],
): Trial {
  const columns = new Set(rows.flatMap((row) => Object.keys(row)));
  const bad = type === 'array' ? ',' : type === 'string' && !allowedValues ? undefined : 'nonsense';
  for (const [suffix, ending, meaning] of MEANINGS) {
    if (!name.endsWith(suffix)) continue;
    const column = `${name.slice(0, name.length - suffix.length)}${ending}`;
    if (!columns.has(column)) continue;
    const present = [...new Set(rows.map((row) => row[column]))].filter(isPresent);
    for (const value of suffix === 'Exists' ? [true] : present) {
      const keeps = (row: Row): boolean => meaning(row[column] ?? null, value);
      const { length } = rows.filter(keeps);
      if (length > 0 && length < rows.length) return { value: String(value), keeps, bad };
    }
    throw new Error(`No value of ${name} keeps some of the objects and not all: vary ${column}`);
  }
  throw new Error(`The filter ${name} needs an entry in filters: its name is of no column`);
}

type Meaning = (found: unknown, value: unknown) => boolean;

/** What a filter means, by the end of its name and what the name of the column has in its place. */
const MEANINGS: readonly [suffix: string, ending: string, Meaning][] = [
  ['', '', (found, value) => found === value],
  ['Not', '', (found, value) => found !== value],
  ['Exists', '', isPresent],
  ['Min', '', (found, value) => isPresent(found) && compare(found, value) >= 0],
  ['Max', '', (found, value) => isPresent(found) && compare(found, value) <= 0],
  ['Since', 'At', (found, value) => isPresent(found) && compare(found, value) >= 0],
  ['Until', 'At', (found, value) => isPresent(found) && compare(found, value) < 0],
];

function isPresent(value: unknown): boolean {
  return value !== null && value !== undefined;
}

/** Compares numbers, decimals as text, and times in the format of the contract. */
function compare(one: unknown, other: unknown): number {
  const [first, second] = [String(one), String(other)];
  const difference = Number(first) - Number(second);
  return Number.isNaN(difference)
    ? Buffer.compare(Buffer.from(first), Buffer.from(second))
    : difference;
}
