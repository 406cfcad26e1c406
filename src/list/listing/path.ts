import { FindOperator, type ObjectType, Raw } from 'typeorm';
import { jsonPath, type JsonPath, PATH_LENGTH, pathExpression } from '../../resource/json-paths.js';

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
type Compared = Leaf | readonly Leaf[] | FindOperator<unknown>;

const PATHS = new WeakMap<object, JsonPath>();

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
): Readonly<Record<ColumnOf<Path>, FindOperator<never>>> {
  const at = jsonPath(entity, name);
  const [operator, value] = comparison(at, compared);
  const condition = Raw(
    (column) => `${pathExpression(at, column)} ${operator}`,
    value === undefined ? {} : { value },
  ) as FindOperator<never>;
  PATHS.set(condition, at);
  return { [at.column]: condition } as Record<ColumnOf<Path>, FindOperator<never>>;
}

type ColumnOf<Path extends string> = Path extends `${infer Column}.${string}` ? Column : never;

/** The path that a condition on a column compares; `undefined` for any other condition. */
export function pathOf(condition: unknown): JsonPath | undefined {
  return condition instanceof FindOperator ? PATHS.get(condition) : undefined;
}

/** What follows the value in SQL, and its parameter `value`. */
function comparison(at: JsonPath, compared: Compared): [operator: string, value?: unknown] {
  const { sqlType } = TYPES[at.type];
  if (compared instanceof FindOperator) {
    const { type, child } = compared;
    if (type === 'isNull') return ['IS NULL'];
    if (type === 'not' && child?.type === 'isNull') return ['IS NOT NULL'];
    const operand: unknown = compared.value;
    if (['equal', 'in', 'any'].includes(type)) return comparison(at, operand as Compared);
    const operator = OPERATORS.get(type);
    if (!operator) throw new TypeError(`A path cannot be compared by ${type}`);
    return [`${operator} CAST(:value AS ${sqlType})`, textOf(at, operand)];
  }
  if (!Array.isArray(compared)) return [`= CAST(:value AS ${sqlType})`, textOf(at, compared)];
  const values = (compared as readonly unknown[]).map((each) => textOf(at, each));
  // From an equality, the planner learns that the index is in the order of the identifier.
  if (values.length === 1) return [`= CAST(:value AS ${sqlType})`, values[0]];
  return [`= ANY(CAST(:value AS ${sqlType}[]))`, values];
}

const OPERATORS: ReadonlyMap<string, string> = new Map([
  ['moreThan', '>'],
  ['moreThanOrEqual', '>='],
  ['lessThan', '<'],
  ['lessThanOrEqual', '<='],
]);

const TYPES: Readonly<
  Record<JsonPath['type'], { sqlType: string; accepts: (value: unknown) => boolean }>
> = {
  text: {
    sqlType: 'text',
    accepts: (value) => typeof value === 'string' && Array.from(value).length <= PATH_LENGTH,
  },
  // A decimal of a filter is a text.
  number: {
    sqlType: 'numeric',
    accepts: (value) =>
      (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value))) ||
      Number.isFinite(value),
  },
  boolean: { sqlType: 'text', accepts: (value) => typeof value === 'boolean' },
};

function textOf({ name, type }: JsonPath, value: unknown): string {
  if (TYPES[type].accepts(value)) return String(value);
  throw new TypeError(
    type === 'text'
      ? `${name} is compared with a text of ${PATH_LENGTH} characters at most`
      : `${name} is compared with a ${type}`,
  );
}
