import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { DataSource } from 'typeorm';
import { miscounts } from '#server/verify/object-checks.js';
import { Product } from '../../src/products/product.entity.js';
import { catalogue, type CommandResult } from '../cli/catalogue.js';
import { CommandHost } from '../cli/command-host.js';
import { createDatabase } from '#server/testing/database.js';
import { type Service, startService } from '../service.js';

let service: Service;
const host = new CommandHost();

beforeAll(async () => {
  service = await startService();
  await service.load('products', [
    { productID: 'p1', type: 'DIGITAL', name: 'Running lamps', description: 'for the Cafés' },
    { productID: 'p2', type: 'DIGITAL', name: 'Belt', description: 'for the runner with a lamp' },
  ]);
});
afterAll(async () => {
  await host.end();
  await service.stop();
});

const environment = (language: string): NodeJS.ProcessEnv => ({
  DATABASE_URL: service.database.url,
  SEARCH_LANGUAGE: language,
});

const run = (language: string, ...args: string[]): Promise<CommandResult> =>
  host.run(args, { environment: environment(language) });

async function found(list: string): Promise<string[]> {
  const { body } = await service.get(`/products?${list}`).expect(200);
  return (body.response_data.objects as { productID: string }[]).map(({ productID }) => productID);
}

describe('The language of searches', () => {
  it('must exist', async () => {
    for (const command of [['search', 'rebuild'], ['verify'], ['start']]) {
      expect(await run('klingon', ...command)).toMatchObject({
        status: 1,
        stderr:
          'catalogue: SEARCH_LANGUAGE must be a text search configuration of the database, such as simple or english, not klingon\n',
      });
    }
  });

  it('is that of the setting in a new database, which a wrong one leaves empty', async () => {
    const database = await createDatabase({ migrated: false });
    const migrate = (language: string) =>
      host.run(['migrate'], {
        environment: { ...environment(language), DATABASE_URL: database.url },
      });
    const dataSource = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    try {
      expect(await migrate('klingon')).toMatchObject({
        status: 1,
        stderr:
          'catalogue: SEARCH_LANGUAGE must be a text search configuration of the database, such as simple or english, not klingon\n',
      });
      expect(await dataSource.query(`SELECT to_regclass('products') AS products`)).toEqual([
        { products: null },
      ]);
      expect(await migrate('english')).toMatchObject({ status: 0, stderr: '' });
      // A later setting does not change it.
      expect(await migrate('simple')).toMatchObject({ status: 0, stderr: '' });
      expect(
        await dataSource.query(
          `SELECT search_language() AS language, object_words('Running lamps', '')::text AS words`,
        ),
      ).toEqual([{ language: 'english', words: expect.stringContaining("'^lamp'") }]);
    } finally {
      await dataSource.destroy();
      await database.drop();
    }
  });

  it('is changed by a command, and verify tells when that was forgotten', async () => {
    expect(await found('q=lamp')).toEqual(['p2']);
    expect((await run('english', 'verify')).stdout).toContain(
      'searches are in the language simple, SEARCH_LANGUAGE is english; run catalogue search rebuild\n',
    );
    expect(await run('english', 'search', 'rebuild')).toEqual({
      status: 0,
      stdout: 'Searches are in the language english. Rebuilt: products\n',
      stderr: '',
    });
    expect((await run('english', 'verify')).stdout).toBe('Nothing is off\n');
    // Also from the page cache.
    expect(await found('q=lamp')).toEqual(['p1', 'p2']);
    expect((await run('simple', 'verify')).stdout).toContain(
      'searches are in the language english, SEARCH_LANGUAGE is simple; run catalogue search rebuild\n',
    );
  });

  it('changes the version when it is rebuilt, so that no page of before is served', async () => {
    const versions = () => service.dataSource.query('SELECT count(*) FROM resource_versions');
    const before = await versions();
    await service.dataSource.query(`SELECT rebuild_words('products')`);
    expect(await versions()).not.toEqual(before);
  });

  it('stems words, and neither beginnings nor identifiers', async () => {
    // On a connection that has written in the language before.
    await service.load('products', [
      { productID: 'p3', type: 'DIGITAL', name: 'Lamps', description: 'The Beanbags' },
    ]);
    expect(await found('q=lamp')).toEqual(['p1', 'p2', 'p3']);
    expect(await found('q=LÁMPS&sort=relevance')).toEqual(['p1', 'p3', 'p2']);
    expect(await found('q=cafe')).toEqual(['p1']);
    expect(await found('q=runni*')).toEqual(['p1']);
    expect(await found('q=run*&sort=relevance')).toEqual(['p1', 'p2']);
    expect(await found('q=beanb*%20lamp')).toEqual(['p3']);
    expect(await found('q=the%20lamp%20beanbag')).toEqual(['p3']);
    expect(await found('q=the')).toEqual(['p1', 'p2', 'p3']);
    expect(await found('q=p3')).toEqual(['p3']);
    const metadata = service.dataSource.getMetadata(Product);
    expect(await miscounts(service.dataSource, metadata)).toEqual([]);
  });

  it('is changed beside a transaction that has read and will write, and by two commands at once', async () => {
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query('SELECT count(*) FROM products');
    const rebuild = () => catalogue(['search', 'rebuild'], environment('english'));
    const rebuilt = await Promise.all([rebuild(), rebuild()]);
    expect(rebuilt.map(({ status, stderr }) => [status, stderr])).toEqual([
      [0, ''],
      [0, ''],
    ]);
    await runner.query(`UPDATE products SET stock = 1 WHERE "productID" = 'p1'`);
    await runner.commitTransaction();
    await runner.release();
  });

  it('does not reach words of another trigger, which verify names', async () => {
    await service.dataSource.query('DELETE FROM searches');
    expect((await run('english', 'verify')).stdout).toContain(
      'products has no working trigger that sets its words; run catalogue migrate\n',
    );
    await service.dataSource.query(
      `SELECT install_words('products', '{name,refID,description}'), rebuild_words('products')`,
    );
    expect((await run('english', 'verify')).stdout).toBe('Nothing is off\n');
  });

  it('goes back', async () => {
    expect((await run('simple', 'search', 'rebuild')).status).toBe(0);
    expect(await found('q=lamp')).toEqual(['p2']);
    expect((await run('simple', 'verify')).stdout).toBe('Nothing is off\n');
  });
});
