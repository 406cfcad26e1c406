import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { SchemaCheck } from '#server/schema/schema-check.js';
import { searchLanguageDifference } from '#server/schema/search-language.js';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';
import { despiteDeadlocks } from '../despite-deadlocks.js';
import { logLines } from '../log-lines.js';
import { plainLines } from '../plain-lines.js';
import { refusal, type Service, startService } from '../service.js';
import { CATEGORY_MISSING, INSTALL_PRODUCTS_TALLY, WITHOUT_CATEGORY } from './products-tally.js';
import { until } from '../until.js';

let service: Service;
let logged: string[];

beforeEach(async () => {
  service = await startService();
  await service.load('categories', [{ categoryID: 'c', name: 'C' }]);
  await service.load('products', [{ productID: 'p', type: 'PHYSICAL', categoryID: 'c' }]);
  logged = logLines('error', 'warn');
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

const query = (sql: string) => despiteDeadlocks(() => service.dataSource.query<unknown[]>(sql));
const check = () => service.application.get(SchemaCheck).start();
const ready = () => service.anonymous().get('/health/ready');
const away = refusal(-2, 'The service is temporarily unavailable');
const notReady = { status: 'unavailable', reason: 'schema' };

describe('A service whose database does not match its entities', () => {
  it('is not ready and gives no wrong count, until the database is mended', async () => {
    const path = '/products?categoryID=c';
    const right = (await service.get(path).expect(200)).body.response_data;
    expect(right).toMatchObject({ count: '1', objects: [{ productID: 'p' }] });
    const { etag = '' } = (await service.get(path).expect(200)).headers;
    await check();
    await query(WITHOUT_CATEGORY);
    // As where a migration of another release counts less. The count would be 0.
    await service.get(path).expect(503, away);
    await ready().expect(503, notReady);
    const lists = [path, '/products', '/products?q=x', '/facets/products'];
    for (const list of lists) {
      await service.get(list).expect(503, away);
      await service.get(list).set('If-None-Match', etag).expect(503, away);
      await service.get(list).set('Accept', 'text/csv').expect(503, away);
    }
    await service.get('/changes').set('Accept', 'application/x-ndjson').expect(503, away);
    await service.get('/products/p').expect(200);
    await service.get('/categories').expect(200);
    const found = () => logged.filter((line) => line.startsWith('The database'));
    expect(found()).toEqual([
      `The database does not match the entities: ${CATEGORY_MISSING}; run catalogue migrate`,
    ]);
    await query(INSTALL_PRODUCTS_TALLY);
    await until(async () => (await ready()).status === 200);
    expect((await service.get(path).expect(200)).body.response_data).toEqual(right);
    expect(found().slice(1)).toEqual(['The database matches the entities again']);
  });

  it('still lists what can only be slow, though it is not ready', async () => {
    await query('DROP INDEX brands_by_name');
    await check();
    await ready().expect(503, notReady);
    await service.get('/brands').expect(200);
  });

  it('is ready where the database merely has more', async () => {
    await query('CREATE INDEX mine ON brands ("createdAt")');
    await query(`SELECT install_tally('brands', 'brandID', '{name}', '{nameOrder}')`);
    await check();
    await ready().expect(200);
    await service.get('/brands').expect(200);
    expect(logged).toEqual([]);
  });

  it('says in which other language it searches', async () => {
    const difference = (language: string) => searchLanguageDifference(service.dataSource, language);
    expect(await difference('simple')).toBeUndefined();
    expect(await difference('english')).toMatch(
      /^searches are in the language simple, SEARCH_LANGUAGE is english/,
    );
  });

  it('lists nothing before it has been compared', async () => {
    await query('ALTER TABLE tallies RENAME TO hidden');
    await check();
    await ready().expect(503, notReady);
    await service.get('/brands').expect(503, away);
    expect(logged).toEqual([
      'The database does not match the entities: it cannot be compared: relation "tallies" does not exist',
    ]);
    await query('ALTER TABLE hidden RENAME TO tallies');
    await until(async () => (await ready()).status === 200);
    await service.get('/brands').expect(200);
  });

  it('is not compared again once it matched, nor for each probe', async () => {
    const asked = () => spy.mock.calls.filter(([text]) => text.includes('FROM tallies')).length;
    const spy = jest.spyOn(service.dataSource, 'query');
    await query(`SELECT remove_deletions('brands')`);
    await check();
    for (let at = 0; at < 30; at += 1) await ready().expect(503, notReady);
    // It may have been compared again meanwhile, every three seconds.
    expect(asked()).toBeLessThan(10);
    await query(`SELECT install_deletions('brands', 'brandID')`);
    await until(async () => (await ready()).status === 200);
    const before = asked();
    // Longer than the interval between two comparisons.
    await sleep(3500);
    await ready().expect(200);
    expect(asked()).toBe(before);
  });
});

describe('catalogue start', () => {
  let child: ChildProcess | undefined;
  afterEach(() => {
    child?.kill('SIGKILL');
  });

  it('installs what is lacking, says what else to run, and is ready once that was run', async () => {
    await query('DROP TRIGGER products_tally_delete ON products');
    await query(`SELECT install_words('products', '{name,imageURL,description,refID}')`);
    const { url } = service.database;
    child = spawn(process.execPath, ['dist/main.js', 'start'], {
      env: {
        ...BARE_ENVIRONMENT,
        DATABASE_URL: url,
        PORT: '0',
        ADMIN_PORT: '0',
        HOST: '127.0.0.1',
      },
    });
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await until(() => output.includes('Catalogue listens on'));
    const health = async () => {
      const [, admin = ''] = /Health and metrics are on (\S+)/.exec(plainLines(output)) ?? [];
      return (await fetch(`${admin}/health/ready`)).json();
    };
    expect(await health()).toEqual(notReady);
    expect(output).toMatch(
      /Installed the tally of products in [\d.]+ s, lists and writers of its table waited/,
    );
    expect(output).toMatch(
      /the words of products are made of name, imageURL, .*; run catalogue migrate/,
    );
    await query(`SELECT install_words('products', '{name,refID,description}')`);
    await until(async () => ((await health()) as { status: string }).status === 'ok');
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
});
