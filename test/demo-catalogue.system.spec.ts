import { createHash } from 'node:crypto';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { Column, ForeignKey, Index, PrimaryColumn } from 'typeorm';
import { identifierColumn, Resource } from '@catalogue/server';
import { demoRows, loadDemonstration } from '#server/demo/load-demonstration.js';
import { plainLines } from './plain-lines.js';
import { PROJECT } from './project.js';
import { BuiltCopy } from './database/built-copy.js';
import { resourceModule } from './list/resource-module.js';
import { startWith } from './list/migrated.js';
import { startService } from './service.js';

const RESOURCES = ['brands', 'categories', 'products', 'variants'] as const;

const [brands, categories, products, variants] = (await Promise.all(RESOURCES.map(rowsOf))) as [
  Row[],
  Row[],
  Row[],
  Row[],
];

type Row = Record<string, string | number | string[] | null>;

/** SHA-256 of the rows of all four, each as JSON on a line. */
const DIGEST = '9ecb038a6703814d6638a686a22f966b495e0a6104838ff539a1d402cb3c836e';

/** The rows of a file as objects, an empty cell as null, a stock as a number, and colours as a list. */
async function rowsOf(resource: (typeof RESOURCES)[number]): Promise<Row[]> {
  const rows: Row[] = [];
  for await (const batch of demoRows('demo', resource)) {
    for (const { columns, cells } of batch) {
      if (cells)
        rows.push(Object.fromEntries(columns.map((name, at) => [name, value(name, cells[at])])));
    }
  }
  return rows;
}

function value(column: string, cell: unknown): string | number | string[] | null {
  if (typeof cell !== 'string') return null;
  if (column === 'colours') return JSON.parse(cell) as string[];
  return column === 'stock' ? Number(cell) : cell;
}

function digest(rows: Row[]): string {
  const lines = rows.map((row) => JSON.stringify(row));
  return createHash('sha256').update(lines.join('\n')).digest('hex');
}

@Resource('test_clubs')
class Club {
  @PrimaryColumn(identifierColumn)
  clubID!: string;

  @ForeignKey(() => Player)
  @Index()
  @Column({ ...identifierColumn, nullable: true })
  captainID!: string | null;
}

@Resource('test_players')
class Player {
  @PrimaryColumn(identifierColumn)
  playerID!: string;

  @ForeignKey(() => Club)
  @Index()
  @Column(identifierColumn)
  clubID!: string;
}

describe('the demonstration catalogue', () => {
  it('has brands, categories, products and variants', () => {
    expect([brands, categories, products, variants].map(({ length }) => length)).toEqual([
      45, 64, 3000, 324,
    ]);
  });

  // Examples in the documentation show its first pages, and tests its counts. A change of the
  // catalogue on purpose comes with a new digest. Its columns, references and forms are checked when it is loaded.
  it('has the rows that the documentation shows', () => {
    expect(digest([...brands, ...categories, ...products, ...variants])).toBe(DIGEST);
  });

  it('has the same rows in a database into which it was loaded', async () => {
    const service = await startService();
    try {
      await loadDemonstration(PROJECT, service.dataSource);
      const loaded: Row[] = [];
      for (const [resource, rows] of [
        ['brands', brands],
        ['categories', categories],
        ['products', products],
        ['variants', variants],
      ] as const) {
        const keys = Object.keys(rows[0] ?? {});
        const [identifier = ''] = keys;
        const objects = await service.dataSource.getRepository<Row>(resource).find();
        expect(objects).toHaveLength(rows.length);
        const found = new Map(objects.map((object) => [object[identifier], object]));
        for (const row of rows) {
          const object = found.get(row[identifier] ?? null);
          // As JSON a time is text, as it is in the file.
          loaded.push(Object.fromEntries(keys.map((key) => [key, object?.[key] ?? null])));
        }
      }
      expect(digest(loaded)).toBe(DIGEST);
    } finally {
      await service.stop();
    }
  });

  it('is loaded however long a statement takes, with no limit of requests', async () => {
    const service = await startService({ QUERY_TIMEOUT_MS: '500', POOL_SIZE: '1' });
    try {
      // Longer than the limit of a request, and than a request waits for a word of the server.
      await service.dataSource.query(
        `CREATE FUNCTION rest() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(1.8); RETURN NULL; END $$;
         CREATE TRIGGER rest AFTER INSERT ON brands EXECUTE FUNCTION rest()`,
      );
      await loadDemonstration(PROJECT, service.dataSource);
      await expect(service.dataSource.query('SELECT pg_sleep(5)')).rejects.toThrow('timeout');
    } finally {
      await service.stop();
    }
  });

  it('ends the start with one line that names the file where one is wrong', async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'catalogue-demo-'));
    // As root, the embedded server runs as another user.
    await chmod(dataDir, 0o755);
    const copy = await BuiltCopy.make([]);
    try {
      await mkdir(join(copy.folder, 'demo'));
      await writeFile(join(copy.folder, 'demo/planets.csv'), 'planetID\nmars\n');
      const start = copy.run(['start'], { DATA_DIR: dataDir, PORT: '0' });
      expect(await start.ended).toBe(1);
      expect(plainLines(start.stderr())).toContain(
        `catalogue: ${join(copy.folder, 'demo/planets.csv')} has no resource: there is no planets\n`,
      );
      await rm(join(copy.folder, 'demo/planets.csv'));
      await writeFile(join(copy.folder, 'demo/brands.csv'), 'brandID,name\nb-1\n');
      const again = copy.run(['start'], { DATA_DIR: dataDir, PORT: '0' });
      expect(await again.ended).toBe(1);
      expect(plainLines(again.stderr())).toContain(
        `catalogue: ${join(copy.folder, 'demo/brands.csv')}: Nothing was loaded: 1 problem\n`,
      );
    } finally {
      await copy.remove();
      await rm(dataDir, { recursive: true });
    }
  });

  // The last one, since services that start later have its resources too.
  it('may have resources that refer to each other', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-demo-'));
    await mkdir(join(folder, 'demo'));
    await writeFile(join(folder, 'demo/test_clubs.csv'), 'clubID,captainID\nc,p\nd,\n');
    await writeFile(join(folder, 'demo/test_players.csv'), 'playerID,clubID\np,c\nq,c\n');
    const service = await startWith(resourceModule([Club, Player]));
    try {
      const project = { ...PROJECT, folder: join(folder, 'dist') };
      await loadDemonstration(project, service.dataSource);
      expect(
        await service.dataSource.getRepository(Club).find({ order: { clubID: 'ASC' } }),
      ).toEqual([
        { clubID: 'c', captainID: 'p' },
        { clubID: 'd', captainID: null },
      ]);
      expect(await service.dataSource.getRepository(Player).countBy({ clubID: 'c' })).toBe(2);
    } finally {
      await service.stop();
      await rm(folder, { recursive: true });
    }
  });
});
