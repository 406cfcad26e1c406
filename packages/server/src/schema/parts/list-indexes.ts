import { createHash } from 'node:crypto';
import {
  createIndex,
  type ListIndex,
  listIndexes as declaredIndexes,
  listIndexPrefix,
} from '../../resource/list-indexes.js';
import { type Difference, MIGRATE } from '../difference.js';
import { namesBeside, type Part } from './part.js';

interface InstalledIndex extends ListIndex {
  /** False for one whose creation was interrupted. */
  readonly isValid: boolean;
}

/** The indexes of a resource's lists. Without one, lists are slow, but right. */
export const indexes: Part<readonly InstalledIndex[]> = {
  async read(queries) {
    const rows = await queries.query<{ resource: string; indexes: Definition[] }[]>(
      `SELECT "table".relname AS resource, json_agg(json_build_object(
         'name', index.relname, 'definition', pg_get_indexdef(indexrelid), 'isValid', indisvalid
       ) ORDER BY index.relname) AS indexes
       FROM pg_index JOIN pg_class index ON index.oid = indexrelid
       JOIN pg_class "table" ON "table".oid = indrelid
       WHERE "table".relnamespace = quote_ident(current_schema())::regnamespace
       AND starts_with(index.relname, "table".relname || $1) GROUP BY "table".relname`,
      [listIndexPrefix('')],
    );
    return new Map(rows.map(({ resource, indexes }) => [resource, indexes.map(installedIndex)]));
  },

  differences(metadata, installed = []) {
    const { tableName: table } = metadata;
    const declared = declaredIndexes(metadata);
    const surplus = namesBeside(namesIn(installed), namesIn(declared));
    return [
      ...declared.flatMap((index): Difference[] => {
        const there = installed.find(({ name }) => name === index.name);
        if (there && isSame(index, there)) return [];
        const isSurplus = installed.some((other) => carries(other, index));
        const text = there
          ? `the index ${index.name} on ${table} is not as declared`
          : `${table} has no index ${index.name}`;
        return [{ text, remedy: MIGRATE, ...(isSurplus && { isSurplus }) }];
      }),
      ...surplus.map((name): Difference => {
        const text = `the index ${name} on ${table} is not declared`;
        return { text, remedy: MIGRATE, isSurplus: true };
      }),
    ];
  },

  statements(metadata, installed = [], exact) {
    const { tableName: table } = metadata;
    const declared = declaredIndexes(metadata);
    const names = namesIn(declared);
    const beside = declared.map((index) => besideName(table, index));
    return [
      ...declared.flatMap((index) => (exact ? become : add)(table, index, installed)),
      ...(exact ? namesBeside(namesIn(installed), [...names, ...beside]).map(drop) : []),
    ];
  },
};

/** The statements that add an index beside those that another release may need. */
function add(table: string, index: ListIndex, installed: readonly InstalledIndex[]): string[] {
  if (installed.some((other) => carries(other, index))) return [];
  const isTaken = installed.some(({ name, isValid }) => name === index.name && isValid);
  const name = isTaken ? besideName(table, index) : index.name;
  const interrupted = installed.filter((other) => other.name === name).map(() => drop(name));
  return [...interrupted, createIndex(table, { ...index, name })];
}

/** The statements after which there is only the index as declared. The former one serves lists until then. */
function become(table: string, index: ListIndex, installed: readonly InstalledIndex[]): string[] {
  const { name } = index;
  const beside = besideName(table, index);
  const [there, other] = [name, beside].map((each) => installed.find((one) => one.name === each));
  if (there && isSame(index, there)) return other ? [drop(beside)] : [];
  const isBeside = other && isSame(index, other);
  return [
    ...(other && !isBeside ? [drop(beside)] : []),
    ...(isBeside ? [] : [createIndex(table, { ...index, name: there ? beside : name })]),
    ...(there ? [drop(name)] : []),
    ...(there || isBeside ? [`ALTER INDEX "${beside}" RENAME TO "${name}"`] : []),
  ];
}

/** The name of an index while another one has its name. */
function besideName(table: string, { columns }: ListIndex): string {
  const hash = createHash('sha256').update(columns).digest('hex').slice(0, 12);
  return `${listIndexPrefix(table)}${hash}`;
}

function namesIn(indexes: readonly ListIndex[]): string[] {
  return indexes.map(({ name }) => name);
}

/** Whether an index has the key of another one, and at least its other columns. */
function carries({ isValid, columns }: InstalledIndex, other: ListIndex): boolean {
  const [one, wanted] = [columns, other.columns].map((text) => {
    const [, key, carried = ''] = /^(\([^()]*\))(?:INCLUDE\(([^()]*)\))?$/.exec(plain(text)) ?? [];
    return { key, carried: carried.split(',') };
  });
  if (!isValid || !one?.key || one.key !== wanted?.key) return false;
  return wanted.carried.every((name) => name === '' || one.carried.includes(name));
}

interface Definition {
  readonly name: string;
  readonly definition: string;
  readonly isValid: boolean;
}

function installedIndex({ name, definition, isValid }: Definition): InstalledIndex {
  // Everything from the method on, for an index that is not a plain B-tree.
  const columns = definition
    .replace(/^CREATE INDEX .*? USING btree /, '')
    .replace(/^CREATE .*? USING /, 'USING ');
  return { name, columns, isValid };
}

function isSame(one: ListIndex, other: InstalledIndex): boolean {
  return other.isValid && plain(one.columns) === plain(other.columns);
}

/** PostgreSQL quotes only the names that need it, and breaks lines. Storage parameters may differ. */
function plain(columns: string): string {
  return columns.replace(/ WITH \([^)]*\)/, '').replace(/["\s]/g, '');
}

function drop(name: string): string {
  return `DROP INDEX "${name}"`;
}
