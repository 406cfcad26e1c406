import type { ObjectType } from 'typeorm';
import { jsonPath, type JsonPath, PATH_LENGTH } from '../../resource/json-paths.js';
import type { PathComparison } from './condition.js';
import { conditionsOn, ListOperator, type Written } from './from-typeorm.js';

/** The paths to single values in the JSON columns of an entity, such as `hours.monday.open`. */
export type PathOf<Entity> = {
  [Column in keyof Entity & string]: KeysIn<NonNullable<Entity[Column]>> extends infer Keys extends
    string
    ? `${Column}.${Keys}`
    : never;
}[keyof Entity & string];

type KeysIn<Value> = Value extends Leaf | NoObject
  ? never
  : {
      [Key in keyof Value & string]: NonNullable<Value[Key]> extends Leaf
        ? Key
        : KeysIn<NonNullable<Value[Key]>> extends infer Keys extends string
          ? `${Key}.${Keys}`
          : never;
    }[keyof Value & string];

type Leaf = string | number | boolean;
type NoObject = readonly unknown[] | Date | ((...values: never[]) => unknown);

/** What `path` compares with: a value, one of several, or an operator of TypeORM. */
type Compared = Leaf | readonly Leaf[] | Written<unknown>;

/**
 * The condition that a value in a column of type `jsonb` is what is given: this value, one of several, or
 * what `MoreThan`, `MoreThanOrEqual`, `LessThan`, `LessThanOrEqual`, `IsNull` or `Not(IsNull())` of TypeORM
 * says. Texts are compared byte by byte, numbers by their value. An index serves it if `paths` of
 * `@Resource` names the path.
 *
 * @throws TypeError if the shape of the column has no single value there, or for any other operator
 */
export function path<Entity, Path extends PathOf<Entity>>(
  entity: ObjectType<Entity>,
  name: Path,
  compared: Compared,
): Readonly<Record<ColumnOf<Path>, Written>> {
  const at = jsonPath(entity, name);
  const { column } = at;
  const value = comparisonOf(at, compared);
  const operator: Written = new ListOperator('path', () => [
    { kind: 'path', column, path: at, value },
  ]);
  return { [column]: operator } as Record<ColumnOf<Path>, Written>;
}

type ColumnOf<Path extends string> = Path extends `${infer Column}.${string}` ? Column : never;

/** The comparison of the value at a path, with values as text. */
function comparisonOf(at: JsonPath, compared: Compared): PathComparison {
  const [condition, ...others] = Array.isArray(compared)
    ? [{ kind: 'equal' as const, column: at.column, values: compared as readonly unknown[] }]
    : conditionsOn(at.column, compared);
  if (condition && others.length === 0) {
    switch (condition.kind) {
      case 'exists':
        return condition;
      case 'equal':
        return { ...condition, values: condition.values.map((value) => textOf(at, value)) };
      case 'interval': {
        const { lower, upper } = condition;
        return {
          ...condition,
          lower: lower && { ...lower, value: textOf(at, lower.value) },
          upper: upper && { ...upper, value: textOf(at, upper.value) },
        };
      }
    }
  }
  throw new TypeError(`A path cannot be compared by ${(compared as Written).type}`);
}

const ACCEPTS: Readonly<Record<JsonPath['type'], (value: unknown) => boolean>> = {
  text: (value) => typeof value === 'string' && Array.from(value).length <= PATH_LENGTH,
  // A decimal of a filter is a text.
  number: (value) =>
    (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) ||
    Number.isFinite(value),
  boolean: (value) => typeof value === 'boolean',
};

function textOf({ name, type }: JsonPath, value: unknown): string {
  if (ACCEPTS[type](value)) return String(value);
  throw new TypeError(
    type === 'text'
      ? `${name} is compared with a text of ${PATH_LENGTH} characters at most`
      : `${name} is compared with a ${type}`,
  );
}
