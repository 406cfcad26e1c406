import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile, writeFile } from 'node:fs/promises';
import { errors } from '#server/http/errors.js';
import { sharedService } from '../service.js';
import { expectedTables, variables } from './expected-tables.js';
import {
  documents,
  type ExpectedTable,
  type Row,
  tableNames,
  tableOf,
  withTable,
} from './markdown.js';

const service = sharedService({ RATE_LIMIT_PER_MINUTE: '' });
let expected: Record<string, Record<string, ExpectedTable>>;
let texts: Map<string, string>;

// The same settings as in production, since the tables tell the defaults.
beforeAll(async () => {
  expected = await expectedTables(service);
  texts = await documents();
  if (process.env.DOCS === 'write') await write();
});

/** Writes the tables that differ. What was written by hand stays with the first cell of its row. */
async function write(): Promise<void> {
  for (const [path, tables] of Object.entries(expected)) {
    let text = textOf(path);
    for (const [name, { rows, hasOwnMeanings }] of Object.entries(tables)) {
      const meanings = new Map(tableOf(text, name).map((row) => [row[0], row.at(-1) ?? '']));
      const written = rows.map((row, at) =>
        hasOwnMeanings && at > 0 ? [...row.slice(0, -1), meanings.get(row[0]) ?? ''] : row,
      );
      text = withTable(text, name, written);
    }
    texts.set(path, text);
    await writeFile(path, text);
  }
}

function textOf(path: string): string {
  const text = texts.get(path);
  if (text === undefined) throw new Error(`There is no ${path}`);
  return text;
}

const withoutLast = (row: Row): Row => row.slice(0, -1);

const TABLES: readonly (readonly [path: string, name: string])[] = [
  ...['products', 'categories', 'brands', 'variants'].flatMap((resource): [string, string][] => [
    ['docs/api.md', `fields of ${resource}`],
    ['docs/api.md', `filters of ${resource}`],
  ]),
  ['docs/api.md', 'parameters of every list'],
  ['docs/api.md', 'sorts'],
  ['docs/api.md', 'headers'],
  ['docs/api.md', 'errors'],
  ['docs/operations.md', 'settings'],
  ['docs/resources.md', 'parameter decorators'],
  ['docs/resources.md', 'forms of filters'],
  ['docs/performance.md', 'runs'],
  ['docs/performance.md', 'throughput'],
  ['docs/performance.md', 'latency'],
  ['docs/performance.md', 'ratios'],
  ['docs/performance.md', 'overload'],
  ['docs/performance.md', 'lists'],
  ['docs/performance.md', 'mix'],
  ['docs/performance.md', 'first minute'],
  ['docs/performance.md', 'disk'],
  ['docs/performance.md', 'updates'],
  ['docs/performance.md', 'waits'],
  ['docs/performance.md', 'growth'],
  ['docs/cdn.md', 'cdn'],
  ['docs/copies.md', 'faults'],
  ['docs/copies.md', 'moments'],
  ['docs/copies.md', 'histories'],
  ['deploy/cluster/README.md', 'faults'],
];

// `DOCS=write npm test -- test/docs/tables` writes them.
describe('The tables of the documents', () => {
  it.each(TABLES)('%s: %s are as the code has them', (path, name) => {
    const { rows, hasOwnMeanings } = expected[path]?.[name] ?? { rows: [] };
    const written = tableOf(textOf(path), name);
    expect(rows.length).toBeGreaterThan(1);
    if (!hasOwnMeanings) {
      expect(written).toEqual(rows);
      return;
    }
    expect(written.map(withoutLast)).toEqual(rows.map(withoutLast));
    expect(written.filter((row) => row.at(-1) === '')).toEqual([]);
  });

  it('are all held to the code', () => {
    const marked = [...texts].flatMap(([path, text]) =>
      tableNames(text).map((name) => `${path}: ${name}`),
    );
    expect(marked.sort()).toEqual(TABLES.map(([path, name]) => `${path}: ${name}`).sort());
  });

  it('give every errcode once', () => {
    const codes = Object.values(errors).map(({ errcode }) => errcode);
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('have every variable that compose passes on', async () => {
    const compose = await readFile('docker-compose.yml', 'utf8');
    const [service = ''] = compose.split('\nservices:\n');
    const passed = [...service.matchAll(/^ {4}([A-Z_]+):/gm)].map(([, name = '']) => name);
    const given = ['HOST', 'DATA_DIR'];
    expect([...passed, ...given].sort()).toEqual([...variables(), 'PGPASSFILE'].sort());
  });
});
