import { beforeAll, describe, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { differences } from '#server/schema/differences.js';
import { sharedService } from '../service.js';
import { fencesOf } from './markdown.js';

const service = sharedService();
let statements: string[];

beforeAll(async () => {
  const { fences } = fencesOf(await readFile('docs/operations.md', 'utf8'));
  statements = fences
    .filter(({ language, heading }) => language === 'sql' && heading === 'Failures')
    .flatMap(({ text }) => text.trim().split('\n'));
});

const query = <Row>(sql: string, values: unknown[] = []) =>
  service.dataSource.query<Row[]>(sql, values);

describe('The statements of docs/operations.md that count again', () => {
  it('pass on every argument that install_tally has', async () => {
    const [, given = ''] = /install_tally\((.+)\) FROM tallies/.exec(statements.join()) ?? [];
    const [installed] = await query<{ names: string[] }>(
      `SELECT proargnames AS names FROM pg_proc WHERE oid = 'install_tally'::regproc`,
    );
    // The first argument may not be named like the column `resource`.
    expect(given.split(', ')).toEqual(['resource', ...(installed?.names.slice(1) ?? [])]);
  });

  it('mend the tally, and leave the database as its entities declare it', async () => {
    const tallied = 'SELECT * FROM tallies ORDER BY resource';
    const before = await query(tallied);
    await query('DROP TABLE products_tally');
    for (const statement of statements) await query(statement);
    expect(await query(tallied)).toEqual(before);
    expect(await differences(service.dataSource)).toEqual([]);
    await service.get('/products?categoryID=c&priceMin=1').expect(200);
  });
});
