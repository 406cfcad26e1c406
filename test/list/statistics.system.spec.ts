import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Maintenance } from '#server/list/maintenance.js';
import { CommandHost } from '../cli/command-host.js';
import { type Service, startService } from '../service.js';
import { eventually } from '../until.js';

/** More than a word needs to be counted, and than a table needs to be vacuumed. */
const PRODUCTS = 12_000;
/** The tally counts each, alone and with each common word. */
const CATEGORIES = 2000;
/** A table with fewer rows is read as fast with any plan. */
const FEW = 500;
/** An import that is too small for a table to be analysed again, but not for the first time. */
const SMALL = 300;

let service: Service;
const host = new CommandHost();

beforeAll(async () => {
  service = await startService();
  const tables = await query<{ name: string }>(
    `SELECT oid::regclass AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  // Whatever is analysed below, autovacuum has not done it.
  for (const { name } of tables)
    await query(`ALTER TABLE ${name} SET (autovacuum_enabled = false)`);
  const categories = Array.from({ length: CATEGORIES }, (_, at) => ({
    categoryID: `c${at}`,
    name: 'C',
  }));
  await service.load('categories', categories);
  service.application.get(Maintenance).start();
});
afterAll(async () => {
  await host.end();
  await service.stop();
});

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

async function load(from: number, to: number): Promise<void> {
  const rows = Array.from({ length: to - from }, (_, at) => {
    const id = from + at;
    return `p${String(id).padStart(6, '0')},DIGITAL,red lamp,c${id % CATEGORIES},${id % 700}.50,EUR,${id % 3}`;
  });
  const header = 'productID,type,name,categoryID,price,currency,stock';
  const { status } = await host.run(['import', 'products', '-'], {
    environment: { DATABASE_URL: service.database.url },
    input: [header, ...rows].join('\n'),
  });
  expect(status).toBe(0);
}

interface Table {
  readonly name: string;
  readonly rows: number;
  /** As the planner has it. It is -1 if the table was never analysed. */
  readonly estimate: number;
  /** Columns of which there are statistics. */
  readonly columns: number;
}

/** The tables of products, and those with their counts. */
async function tables(): Promise<Table[]> {
  const names = await query<{ name: string }>(
    `SELECT oid::regclass::text AS name FROM pg_class
     WHERE relkind = 'r' AND relname ~ '^products(_tally|$)' ORDER BY 1`,
  );
  const counts = names.map(
    ({ name }) => `SELECT '${name}' AS name, (SELECT count(*) FROM ${name})::integer AS rows,
      reltuples::integer AS estimate, (
        SELECT count(*) FROM pg_statistic WHERE starelid = pg_class.oid
      )::integer AS columns
      FROM pg_class WHERE oid = '${name}'::regclass`,
  );
  return query<Table>(counts.join(' UNION ALL '));
}

const isMisjudged = ({ rows, estimate, columns }: Table): boolean =>
  rows < FEW ? estimate > 2 * FEW : columns === 0 || estimate < rows / 1.5 || estimate > 1.5 * rows;

/** The numbers of rows of the tables that were written most. */
const sizes = async () =>
  Object.fromEntries((await tables()).map(({ name, rows }) => [name, rows]));

describe('An import without autovacuum', () => {
  it('into an empty resource leaves statistics, however small it is', async () => {
    await load(0, SMALL);
    await eventually(async () => {
      const written = (await tables()).filter(({ rows }) => rows > 0);
      expect(written.map(({ name }) => name)).toEqual(
        expect.arrayContaining(['products', 'products_tally']),
      );
      expect(written.filter(({ rows, estimate }) => rows !== estimate)).toEqual([]);
      expect(written.filter(({ columns }) => columns === 0)).toEqual([]);
    }, 20_000);
  });

  it.each([
    ['that is large', SMALL, PRODUCTS],
    ['that multiplies it', PRODUCTS, 6 * PRODUCTS],
  ])('%s ends when its objects are counted, and leaves right statistics', async (_, from, to) => {
    await load(from, to);
    const counted = await sizes();
    expect(counted.products_tally_by_words).toBeGreaterThan(CATEGORIES);
    expect(counted.products_tally_deltas).toBe(0);
    expect(counted.products_tally_by_words_deltas).toBe(0);
    // The running service may be analysing a table.
    await eventually(async () => {
      expect((await tables()).filter(isMisjudged)).toEqual([]);
    }, 20_000);
  });
});
