import {
  CommandError,
  EMPTY_QUOTES,
  formatNamed,
  InvalidRowsError,
  openSource,
  rowsOf as fileRows,
  textOf,
} from '@catalogue/server/generator';
import { Column } from './column.js';
import { isFieldName, TIMES } from './fields.js';
import { GeneratorError } from './generator-error.js';
import { camelOf, capitalised } from './names.js';
import { bare, IDENTIFIERS, referenceOf } from './references.js';

/** Maximum number of rows that are read. */
const MAXIMUM_ROWS = 100_000;

/**
 * Proposes the fields for a file's rows.
 *
 * @param {string} file CSV, NDJSON or a list in JSON, which may be compressed with gzip
 * @param {import('./names.js').Names} names
 * @param {ReadonlyMap<string, import('./write/resource.js').Target>} resources of the project, by name
 * @param {{ delimiter?: string, number?: boolean }} [options] `delimiter` is that of CSV, `number` whether the import
 * numbers the rows, to identify them
 * @returns {Promise<{ fields: string, lines: string[] }>} the fields as the command line takes them, and the lines to
 * print
 */
export async function proposal(file, names, resources, { delimiter, number = false } = {}) {
  const { columns, rows } = await columnsOf(file, delimiter);
  const separated = delimiter === undefined ? '' : ` --delimiter ${shell(delimiter)}`;
  const identifier = number ? undefined : identifierAmong(columns, names, { file, separated });
  const named = nameColumns(columns, identifier, names);
  const taken = new Set([...named.keys()].map((name) => name.toLowerCase()));
  /** @type {Map<Column, import('./column.js').Reference>} */
  const references = new Map();
  for (const column of columns) {
    const reference = referenceOf(column, { own: names.resource, identifier, resources });
    if (reference) references.set(column, reference);
  }
  oneTree(references, taken);
  const proposed = [...named]
    .filter(([name, column]) => column !== identifier && !TIMES.includes(name))
    .map(([name, column]) => column.use(name, { taken, reference: references.get(column) }));
  // `nameColumns` puts it first.
  const [[key = ''] = []] = named;
  if (identifier) proposed.unshift(identifier.key(key, proposed));
  if (number) {
    const field = `${names.identifier}:integer:identifier`;
    proposed.unshift({ field, why: 'the number of the row' });
  }
  const maps = [...named]
    .filter(([name, column]) => name !== column.name)
    .map(([name, column]) => ` --map ${shell(`${name}=${column.name}`)}`);
  return {
    fields: proposed.map(({ field }) => field).join(','),
    lines: [
      `From ${rows}${rows === MAXIMUM_ROWS ? ' rows and more' : ' rows'} of ${file}:`,
      ...proposed.map(({ field, why }) => `  ${field}${why ? ` (${why})` : ''}`),
      'To load them:',
      '  npm run -s catalogue -- migrate',
      `  npm run -s catalogue -- import ${names.resource} ${shell(file)}${separated}${maps.join('')}${number ? ' --number' : ''}`,
    ],
  };
}

/**
 * What the rows of a file show about its columns.
 *
 * @type {(file: string, delimiter: string | undefined) => Promise<{ columns: Column[], rows: number }>}
 */
async function columnsOf(file, delimiter) {
  /** @type {Map<string, Column>} */
  const columns = new Map();
  let rows = 0;
  for await (const { line, cells } of rowsOf(file, delimiter)) {
    for (const [name, value] of cells) {
      const column = columns.get(name) ?? new Column(name);
      columns.set(name, column);
      column.add(value, line);
    }
    rows += 1;
    if (rows === MAXIMUM_ROWS) break;
  }
  if (rows === 0) throw new GeneratorError(`${file} has no rows`);
  for (const column of columns.values()) column.nullable = column.values < rows;
  return { columns: [...columns.values()], rows };
}

/**
 * Leaves the filter by a tree to one reference, that to the resource itself first.
 *
 * @param {ReadonlyMap<Column, import('./column.js').Reference>} references
 * @param {ReadonlySet<string>} taken
 */
function oneTree(references, taken) {
  const trees = [...references.values()].filter(({ isTree }) => isTree);
  const first = taken.has('within') ? undefined : (trees.find(({ isOwn }) => isOwn) ?? trees[0]);
  for (const reference of trees) reference.isTree = reference === first;
}

/**
 * @param {readonly Column[]} columns
 * @param {import('./names.js').Names} names
 * @param {{ file: string, separated: string }} read `separated` is the option of the delimiter
 */
function identifierAmong(columns, { identifier: usual, resource }, { file, separated }) {
  const candidates = columns.filter(({ identifies }) => identifies);
  const found =
    candidates.find(({ name }) => bare(name) === usual.toLowerCase()) ??
    candidates.find(({ name }) => IDENTIFIERS.test(name)) ??
    candidates[0];
  if (found) return found;
  const [nearest] = columns
    .filter((column) => column.isKey)
    .sort((one, other) => other.distinct.size - one.distinct.size);
  const { repeated } = nearest?.lines ?? {};
  const why = repeated === undefined ? 'some rows have none' : `line ${repeated} repeats a value`;
  const near = nearest ? `. ${nearest.name} comes nearest: ${why}` : '';
  throw new GeneratorError(
    `No column of ${file} can be the identifier, which is unique and has 1 to 100 characters${near}. ` +
      `To number the rows: npm run resource -- ${resource} ${shell(file)}${separated} --number`,
  );
}

/**
 * The columns by the name of their field, the identifier first. A field has the name of its column, unless a field
 * cannot have that name.
 *
 * @type {(columns: Iterable<Column>, identifier: Column | undefined, names: import('./names.js').Names) => Map<string, Column>}
 */
function nameColumns(columns, identifier, names) {
  /** @type {Map<string, Column>} */
  const named = new Map();
  // A field of the identifier's name would be the identifier.
  const used = new Set(identifier ? [] : [names.identifier.toLowerCase()]);
  for (const column of new Set([...(identifier ? [identifier] : []), ...columns])) {
    const isTime = TIMES.includes(column.name) && !column.canBe('date-time');
    const base = isFieldName(column.name) && !isTime ? column.name : fieldNameFor(column.name);
    const name = freeName(base, used);
    used.add(names.identifier.toLowerCase()).add(name.toLowerCase());
    named.set(name, column);
  }
  return named;
}

/** A name that none of these is but for its case: `price2`. @type {(base: string, used: ReadonlySet<string>) => string} */
function freeName(base, used) {
  let name = base;
  for (let at = 2; used.has(name.toLowerCase()); at += 1) name = `${base}${at}`;
  return name;
}

/** A name for a field whose column has another one: `unitPrice` for `Unit price`. @type {(column: string) => string} */
function fieldNameFor(column) {
  const folded = column.normalize('NFKD').replace(/\p{M}/gu, '').replace(/ß/g, 'ss');
  const words = folded.replace(/[^A-Za-z0-9]+/g, ' ').trim();
  const name = camelOf(words.charAt(0).toLowerCase() + words.slice(1)).slice(0, 50);
  if (isFieldName(name) && !TIMES.includes(name)) return name;
  return `field${capitalised(name)}`.slice(0, 50);
}

/** An argument of a shell command, in quotes if it needs them. @type {(text: string) => string} */
export const shell = (text) =>
  /^[\w./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll(`'`, `'\\''`)}'`;

/** @typedef {AsyncGenerator<{ line: number, cells: [column: string, value: unknown][] }>} Rows */

/**
 * The rows of a file, as an import reads and refuses them.
 *
 * @param {string} file
 * @param {string} [delimiter] of CSV
 * @returns {Rows}
 */
export async function* rowsOf(file, delimiter) {
  try {
    const { stream } = await openSource(file);
    for await (const rows of fileRows(formatNamed(file), textOf(stream), delimiter)) {
      for (const { line, columns, cells, problem } of rows) {
        if (problem) throw new InvalidRowsError([problem]);
        // An export writes an empty text like this. Most files with quotes have them round every cell.
        const values = cells?.map((cell) => (cell === EMPTY_QUOTES ? null : cell));
        if (values) yield { line, cells: columns.map((name, at) => [name, values[at]]) };
      }
    }
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const isOfRow = error instanceof InvalidRowsError;
    throw new GeneratorError(isOfRow ? `${file}: ${error.lines().join('; ')}` : error.message);
  }
}
