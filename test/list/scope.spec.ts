import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { Response } from 'supertest';
import { Raw } from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import { explainList } from '#server/cli/explain-list.js';
import { ClientsService } from '#server/clients/clients.service.js';
import { CommandError } from '#server/command-error.js';
import { listOf, ListQueryDto, QueryOf, TextParam } from '@catalogue/server';
import { labelFields } from '#server/list/facets/facet-statement.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { SchemaCheck } from '#server/schema/schema-check.js';
import { lineOf } from '#server/schema/difference.js';
import { differences } from '#server/schema/differences.js';
import { findViolations } from '#server/verify/verify.js';
import { deletedIn, LINES } from '../deleted.js';
import { createDeclared, installDeclared } from '../schema/declared.js';
import { refusal, type Service, startService } from '../service.js';
import { until } from '../until.js';
import { MEMBERS, OrdersModule, OrderState, TestLine } from './order.fixture.js';

const MISTAKES = [
  ...['undefined', 'null', 'none', 'promise', 'map', 'nothing', 'other-column'],
  ...['more-than-undefined', 'not-null', 'in-undefined', 'symbol'],
];
const CLIENTS = ['a', 'b', 'auditor', 'reader', 'member', 'branch', ...MISTAKES];
const SINCE = new Date(Date.now() - 86_400_000).toISOString();

let service: Service;
const tokens = new Map<string, string>();

const query = (sql: string, values: unknown[] = []) =>
  service.dataSource.query<Record<string, unknown>[]>(sql, values);

interface Sent {
  readonly method?: 'get' | 'head';
  readonly headers?: Readonly<Record<string, string>>;
}

async function ask(
  client: string,
  path: string,
  { method = 'get', headers = {} }: Sent = {},
): Promise<Response> {
  const asked = service.anonymous();
  return (method === 'head' ? asked.head(path) : asked.get(path))
    .set({
      'X-Client-ID': client,
      Authorization: `Bearer ${tokens.get(client) ?? ''}`,
      ...headers,
    })
    .buffer(true)
    .parse((response, done) => {
      response.setEncoding('utf8');
      let text = '';
      response.on('data', (part: string) => (text += part));
      response.on('end', () => {
        done(null, text);
      });
    });
}

const CHANGES = `/changes?resources=test_orders&since=${SINCE}`;

function changesOf(client: string, resource = 'test_orders'): Promise<Response> {
  const path = `/changes?resources=${resource}&since=${SINCE}`;
  return ask(client, path, { headers: LINES });
}

/** The body. A response to HEAD has none. */
const textOf = ({ body }: Response): string => (typeof body === 'string' ? body : '');

async function pageOf(client: string, path: string): Promise<{ count: string; objects: Row[] }> {
  const response = await ask(client, path);
  expect([path, response.status]).toEqual([path, 200]);
  return (JSON.parse(textOf(response)) as { response_data: { count: string; objects: Row[] } })
    .response_data;
}

type Row = Record<string, unknown>;

interface Seen {
  readonly path: string;
  readonly sent: Sent;
  readonly status: number;
  readonly link?: string;
  readonly total?: string;
  readonly type?: string;
  readonly text: string;
}

const order = (orderID: string, ownerID: string, at: number, rest: Row = {}): Row => ({
  orderID,
  ownerID,
  state: [OrderState.OPEN, OrderState.SENT, OrderState.OPEN][at % 3],
  buyer: ['ann', 'bob', null, 'ann'][at % 4],
  folderID: null,
  total: at % 5 === 4 ? null : String(at % 7),
  note: `paper clips ${String(at % 3)}`,
  ...rest,
});

beforeAll(async () => {
  // A path is asked for in every form at once, of which three are streams.
  service = await startService({ MAX_STREAMS_PER_CLIENT: '3' }, OrdersModule);
  await query(MEMBERS);
  await createDeclared(service.dataSource);
  await query(`SELECT install_words('test_orders', '{note}')`);
  const clients = service.application.get(ClientsService);
  for (const client of CLIENTS) {
    await clients.create(client, {});
    tokens.set(client, (await clients.issue(client, null)).token);
  }
  for (const folder of [
    { folderID: 'fa', parentID: null, ownerID: 'a', name: 'All of a' },
    { folderID: 'fa1', parentID: 'fa', ownerID: 'a', name: 'One of a' },
  ]) {
    await insert('test_folders', folder);
  }
  for (let at = 0; at < 30; at += 1) {
    const folderID = [null, 'fa', 'fa1'][at % 3];
    await insert('test_orders', order(`a${String(at).padStart(2, '0')}`, 'a', at, { folderID }));
  }
  await query(`DELETE FROM test_orders WHERE "orderID" IN ('a28', 'a29')`);
});
afterAll(() => service.stop());

async function insert(table: string, row: Row): Promise<void> {
  const names = Object.keys(row);
  await query(
    `INSERT INTO ${table} (${names.map((name) => `"${name}"`).join()})
     VALUES (${names.map((_, at) => `$${at + 1}`).join()})`,
    Object.values(row),
  );
}

describe('A resource with a scope', () => {
  it('has its tables as its entity says', async () => {
    expect(await findViolations(service.application)).toEqual([]);
  });

  it.each(['', '_deltas', '_counted'])(
    'has words that SQL of another list may not read: test_orders_tally_by_words%s',
    (suffix) => {
      const table = `"test_orders_tally_by_words${suffix}"`;
      @QueryOf(Brand, { reads: [table] })
      class ListNamedBrandsDto extends ListQueryDto {
        @TextParam('The brands that are words in a table.') table?: string;
      }
      const list = listOf(
        service.dataSource.getRepository(Brand),
        Object.assign(new ListNamedBrandsDto(), { table }),
        { table: () => ({ brandID: Raw((id) => `${id} IN (SELECT word FROM ${table})`) }) },
      );
      expect(() => VisibleListing.of(list, undefined)).toThrow(
        'a filter by brandID of brands is SQL past a scope: reads of @QueryOf of ListNamedBrandsDto names test_orders',
      );
    },
  );

  const lists = [
    '',
    'limit=0',
    'limit=3',
    'limit=3&offset=4',
    'offset=100',
    'sort=total',
    'sort=-total&limit=5&offset=3',
    'sort=-orderID&limit=4&offset=2',
    'sort=total,-orderID&offset=3',
    'state=OPEN',
    'state=PUBLIC',
    'state=OPEN,SENT&sort=total&offset=1',
    'buyer=ann',
    'buyer=ann,SECRET',
    'buyer=ann&state=OPEN',
    'ownerID=a',
    'ownerID=b',
    'ownerID=a,b&sort=-total',
    'orderID=a01,SECRET-b1,a05-SECRET',
    'totalMin=3',
    'totalMin=3&sort=total&offset=2',
    'q=paper',
    'q=SECRET',
    'q=SEC*',
    'q=SECRET-b1',
    'q=paper&buyer=ann',
    'q=paper&sort=relevance',
    'q=paper&sort=relevance&offset=3&limit=4',
    'q=paper&sort=relevance&after=a03',
    'q=paper&sort=relevance&after=a05-SECRET',
    'buyerOr=ann,SECRET',
    'buyerOr=SECRET,SECRET',
    'within=fa',
    'within=SECRET-f',
    'within=fa,SECRET-f&sort=-total',
    'include=folder',
    'include=folder&state=OPEN&limit=4',
    'fields=orderID,folder.name&sort=total&limit=4&offset=2',
    'after=a03&limit=4',
    'after=a05-SECRET',
    'after=SECRET-b1&sort=total',
    'after=a03&sort=-total',
    'after=a03&include=folder',
    'updatedSince=2001-01-01T00:00:00Z',
    'updatedUntil=2999-01-01T00:00:00Z&sort=total',
  ].map((parameters) => `/test_orders?${parameters}`);
  const counts = [
    '',
    'facets=ownerID',
    'facets=ownerID,state&ownerID=b',
    'ownerID=a,b',
    'facets=state&ownerID=a',
    'facets=buyer&state=OPEN',
    'buyer=ann',
    'buyer=SECRET',
    'buyerOr=SECRET,SECRET',
    'q=paper',
    'q=SECRET',
    'within=fa',
    'within=SECRET-f',
    'totalMin=3&limit=1',
  ].map((parameters) => `/facets/test_orders?${parameters}`);
  const others = [
    '/test_orders/a01',
    '/test_orders/a01?fields=orderID,folder.name',
    '/test_orders/a01?include=folder',
    '/test_orders/a05-SECRET?include=folder',
    '/test_orders/SECRET-b1',
    '/test_orders/a05-SECRET?fields=folder.name',
    '/test_folders',
    '/test_folders?include=parent&sort=-name',
    '/test_folders?within=fa',
    '/test_folders?within=SECRET-f',
    `/changes?resources=test_orders&since=${SINCE}`,
    `/changes?resources=test_folders,test_orders&fields=test_orders.note&since=${SINCE}`,
  ];
  const paths = [...lists, ...counts, ...others];
  const forms: Sent[] = [
    {},
    { method: 'head' },
    { headers: { Accept: 'application/x-ndjson', 'Accept-Encoding': 'identity' } },
    { headers: { Accept: 'text/csv' } },
    { headers: { 'Accept-Encoding': 'gzip' } },
    { headers: { Accept: 'application/x-ndjson', 'Accept-Encoding': 'gzip' } },
  ];

  /** What a client can see of a response, but for tags, times and identifiers of requests. */
  async function seen(client: string, path: string, sent: Sent = {}): Promise<Seen> {
    const response = await ask(client, path, sent);
    const { link, 'x-total-count': total, 'content-type': type } = response.headers;
    return { path, sent, status: response.status, link, total, type, text: textOf(response) };
  }

  const inEveryForm = (path: string) => Promise.all(forms.map((sent) => seen('a', path, sent)));

  it('gives no client a byte of another', async () => {
    const before = new Map<string, Seen[]>();
    for (const path of paths) before.set(path, await inEveryForm(path));
    expect((await pageOf('a', '/test_orders')).count).toBe('28');

    // Another client, with objects between those of the first one.
    await insert('test_folders', {
      folderID: 'SECRET-f',
      parentID: 'fa',
      ownerID: 'b',
      name: 'SECRET',
    });
    await insert('test_folders', {
      folderID: 'SECRET-g',
      parentID: null,
      ownerID: null,
      name: 'SECRET',
    });
    for (let at = 0; at < 60; at += 1) {
      const orderID = at % 2 ? `SECRET-b${at}` : `a${String(at % 30).padStart(2, '0')}-SECRET`;
      const row = order(orderID, 'b', at, {
        folderID: [null, 'SECRET-f', 'fa', 'fa1'][at % 4],
        buyer: ['ann', 'SECRET'][at % 2],
        note: `paper SECRET ${at}`,
        ...(at % 10 === 0 && { state: OrderState.PUBLIC }),
      });
      await query(`DELETE FROM test_orders WHERE "orderID" = $1`, [orderID]);
      await insert('test_orders', row);
    }
    // Deletions of another client, also of identifiers that were once of the first one.
    await insert('test_orders', order('SECRET-gone', 'b', 1));
    await insert('test_orders', order('a28', 'b', 1, { note: 'SECRET' }));
    await insert('test_orders', order('a29', 'b', 1, { note: 'SECRET' }));
    await query(`DELETE FROM test_orders WHERE "orderID" IN ('SECRET-gone', 'a29')`);
    await query(`UPDATE test_orders SET "ownerID" = 'c' WHERE "orderID" = 'SECRET-b3'`);
    await query(`DELETE FROM test_folders WHERE "folderID" = 'SECRET-g'`);

    // What others have asked for is in memory, and the client knows their tags.
    const tags = new Map<string, string[]>();
    for (const path of paths) {
      for (const client of ['auditor', 'reader', 'b']) {
        const headers = { 'Accept-Encoding': 'gzip' };
        const [{ status, headers: found }] = await Promise.all([
          ask(client, path),
          ask(client, path, { headers }),
        ]);
        expect([client, path, status < 500]).toEqual([client, path, true]);
        // An auditor gets the same for some lists.
        if (client === 'auditor' || found.etag === undefined) continue;
        tags.set(path, [...(tags.get(path) ?? []), found.etag]);
      }
    }
    for (const path of paths) expect(await inEveryForm(path)).toEqual(before.get(path));
    expect(tags.size).toBeGreaterThan(paths.length / 2);
    for (const [path, sent] of tags) {
      const headers = { 'If-None-Match': sent.join() };
      const found = await seen('a', path, { headers });
      expect({ ...found, sent: {} }).toEqual(before.get(path)?.[0]);
    }
  });

  it('has lists that are explained for a client, who must be named', async () => {
    await expect(explainList(service.application, '/test_orders')).rejects.toThrow(
      new CommandError('What is seen of test_orders depends on the client: name one with --client'),
    );
    const [plan, ...lines] = await explainList(service.application, '/test_orders?limit=1', 'a');
    expect(plan).toMatch(/^Plan: /);
    expect(lines).toContainEqual(expect.stringMatching(/^Values: .*"a"/));
    const free = await explainList(service.application, '/brands');
    expect(free[0]).toMatch(/^Plan: /);
  });

  it('has the count of a client from the tally, and 304 of its own', async () => {
    const { count } = await pageOf('a', '/test_orders?limit=1');
    const add = (number: number) =>
      query(
        `UPDATE test_orders_tally SET count = count + $1
         WHERE (facet, lowest) = (SELECT facet, lowest FROM test_orders_tally
           WHERE facet = 'ownerID=a' ORDER BY lowest LIMIT 1)`,
        [number],
      );
    // Deltas of it become a row of the tally when they are folded.
    await query(
      `INSERT INTO test_orders_tally (facet, lowest, count) VALUES ('ownerID=a', '', 0) ON CONFLICT DO NOTHING`,
    );
    await add(1000);
    const lists = ['limit=2', 'limit=2&sort=-total', 'limit=2&include=folder'];
    for (const parameters of lists) {
      const page = await pageOf('a', `/test_orders?${parameters}`);
      expect([parameters, page.count]).toEqual([parameters, String(Number(count) + 1000)]);
    }
    await add(-1000);
    const { headers } = await ask('a', '/test_orders?limit=2&offset=1');
    const again = await ask('a', '/test_orders?limit=2&offset=1', {
      headers: { 'If-None-Match': String(headers.etag) },
    });
    expect([again.status, again.headers.etag]).toEqual([304, headers.etag]);
  });

  it('hides related objects of another client, also in streams', async () => {
    const rows = [
      { lineID: 'l1', orderID: 'a01', folderID: 'fa1' },
      { lineID: 'l2', orderID: 'SECRET-b1', folderID: 'SECRET-f' },
      { lineID: 'l3', orderID: null, folderID: null },
    ];
    for (const row of rows) await insert('test_lines', row);
    const named = (objects: Row[]) =>
      objects.map(({ lineID, order: one, folder }) => [
        lineID,
        (one as Row | null)?.orderID ?? null,
        (folder as Row | null)?.folderID ?? null,
      ]);
    const mine = [
      ['l1', 'a01', 'fa1'],
      ['l2', null, null],
      ['l3', null, null],
    ];
    const theirs = [
      ['l1', null, null],
      ['l2', 'SECRET-b1', 'SECRET-f'],
      ['l3', null, null],
    ];
    for (const parameters of ['', '&limit=3&offset=0', '&sort=-lineID', '&after=l0']) {
      if (parameters === '&after=l0') await insert('test_lines', { lineID: 'l0' });
      const path = `/test_lines?include=order,folder${parameters}`;
      const reversed = parameters.includes('-');
      for (const [client, expected] of [
        ['a', mine],
        ['b', theirs],
        ['a', mine],
      ] as const) {
        const found = named((await pageOf(client, path)).objects);
        expect(reversed ? found.reverse() : found).toEqual(expected);
        const stream = await ask(client, path, { headers: { Accept: 'application/x-ndjson' } });
        const lines = textOf(stream).split('\n').filter(Boolean);
        const streamed = named(lines.map((line) => JSON.parse(line) as Row));
        expect(reversed ? streamed.reverse() : streamed).toEqual(expected);
      }
    }
    for (const [client, label] of [
      ['a', null],
      ['b', 'SECRET'],
    ] as const) {
      const counts = await pageOf(client, '/facets/test_lines?facets=folderID');
      const secret = { field: 'folderID', value: 'SECRET-f', label, count: '1' };
      expect(counts.objects).toContainEqual(secret);
    }
    await query(`DELETE FROM test_lines WHERE "lineID" = 'l0'`);
    await insert('test_orders', order('a-moved', 'a', 1, { folderID: 'SECRET-f' }));
    for (const parameters of ['include=folder', 'fields=folder.name']) {
      const path = `/test_orders/a-moved?${parameters}`;
      expect(await pageOf('a', path)).toMatchObject({ objects: [{ folder: null }] });
      expect(await pageOf('auditor', path)).toMatchObject({ objects: [{ folder: null }] });
    }
    await query(`UPDATE test_orders SET "folderID" = 'fa1' WHERE "orderID" = 'a-moved'`);
    expect(await pageOf('a', '/test_orders/a-moved?include=folder')).toMatchObject({
      objects: [{ folder: { folderID: 'fa1' } }],
    });
    await query(`DELETE FROM test_orders WHERE "orderID" = 'a-moved'`);
    const { objects } = await pageOf('a', '/test_lines?fields=lineID,order.note');
    expect(JSON.stringify(objects)).not.toContain('SECRET');
  });

  it('hides what is below an object of a tree that a client may not see', async () => {
    await insert('test_folders', {
      folderID: 'fa2',
      parentID: 'SECRET-f',
      ownerID: 'a',
      name: 'Deep',
    });
    const folders = async (client: string, root: string) =>
      (await pageOf(client, `/test_folders?within=${root}`)).objects.map(
        ({ folderID }) => folderID,
      );
    expect(await folders('a', 'fa')).toEqual(['fa', 'fa1']);
    expect(await folders('a', 'SECRET-f')).toEqual([]);
    expect(await folders('a', 'fa2')).toEqual(['fa2']);
    await insert('test_lines', { lineID: 'l4', folderID: 'fa2' });
    const lines = async (client: string, root: string) =>
      (await pageOf(client, `/test_lines?within=${root}`)).objects.map(({ lineID }) => lineID);
    expect(await lines('a', 'fa')).toEqual(['l1']);
    expect(await lines('a', 'SECRET-f')).toEqual([]);
    expect(await lines('b', 'SECRET-f')).toEqual(['l2']);
    expect(await lines('b', 'fa')).toEqual([]);
    const csv = await ask('a', '/test_lines?within=SECRET-f', { headers: { Accept: 'text/csv' } });
    expect([textOf(csv), csv.headers['x-total-count']]).toEqual([
      'lineID,orderID,folderID\r\n',
      '0',
    ]);
  });

  it('may read another table, and then has no entity tag', async () => {
    expect((await pageOf('member', '/test_orders')).count).toBe('0');
    await query(`INSERT INTO test_members VALUES ('member', 'a')`);
    const { count } = await pageOf('member', '/test_orders');
    expect(count).toBe((await pageOf('a', '/test_orders')).count);
    expect((await pageOf('member', '/test_lines?include=order')).objects).toContainEqual(
      expect.objectContaining({ lineID: 'l1', order: expect.objectContaining({ orderID: 'a01' }) }),
    );
    const lists = [
      '/test_orders',
      '/facets/test_orders',
      '/test_lines?include=order',
      '/test_lines?within=fa',
    ];
    for (const path of lists) {
      expect((await ask('member', path)).headers.etag).toBeUndefined();
      expect((await ask('a', path)).headers.etag).toBeDefined();
    }
    await query('DELETE FROM test_members');
    expect((await pageOf('member', '/test_orders')).count).toBe('0');
    expect((await pageOf('member', '/test_lines?include=order')).objects).toContainEqual(
      expect.objectContaining({ lineID: 'l1', order: null }),
    );
  });

  it('may be a part of a tree, and changes with it', async () => {
    const orders = () => ask('branch', '/test_orders?limit=1000&fields=folderID');
    const foldersIn = (response: Response) => [
      ...new Set(textOf(response).match(/(?<="folderID":")[^"]+/g)),
    ];
    const before = await orders();
    expect(foldersIn(before).sort()).toEqual(['SECRET-f', 'fa', 'fa1']);
    const folders = await ask('branch', '/test_folders?fields=folderID');
    expect(foldersIn(folders)).toEqual(['SECRET-f', 'fa', 'fa1', 'fa2']);
    const { objects } = await pageOf('branch', '/test_lines?include=folder');
    expect(objects.filter(({ folder }) => folder !== null).length).toBe(3);
    await query(`UPDATE test_folders SET "parentID" = NULL WHERE "folderID" = 'fa1'`);
    const headers = { 'If-None-Match': String(before.headers.etag) };
    const after = await ask('branch', '/test_orders?limit=1000&fields=folderID', { headers });
    expect([after.status, foldersIn(after).sort()]).toEqual([200, ['SECRET-f', 'fa']]);
    await query(`UPDATE test_folders SET "parentID" = 'fa' WHERE "folderID" = 'fa1'`);
  });

  it('changes the version of a list that looks up objects by their scope', async () => {
    const [{ orderID }] = (await query(
      `SELECT "orderID" FROM test_orders WHERE "folderID" = 'fa1' AND state = 'OPEN' LIMIT 1`,
    )) as [{ orderID: string }];
    await insert('test_lines', { lineID: 'looked-up', orderID });
    const path = '/test_lines?orderState=OPEN&fields=lineID';
    const before = await ask('branch', path);
    expect(textOf(before)).toContain('looked-up');
    await query(`UPDATE test_folders SET "parentID" = NULL WHERE "folderID" = 'fa1'`);
    const headers = { 'If-None-Match': String(before.headers.etag) };
    const after = await ask('branch', path, { headers });
    expect([after.status, textOf(after).includes('looked-up')]).toEqual([200, false]);
    await query(`UPDATE test_folders SET "parentID" = 'fa' WHERE "folderID" = 'fa1'`);
    await query(`DELETE FROM test_lines WHERE "lineID" = 'looked-up'`);
  });

  it('changes the version of facets that refer to it, also if its objects have no name', () => {
    const { metadata } = service.dataSource.getRepository(TestLine);
    expect(labelFields(metadata, ['orderID', 'folderID'])).toEqual([
      'order.orderID',
      'folder.name',
    ]);
  });

  it('changes the version of a list with objects that are shown by what their scope looks up', async () => {
    const [{ orderID }] = (await query(
      `SELECT "orderID" FROM test_orders WHERE "folderID" = 'fa1' LIMIT 1`,
    )) as [{ orderID: string }];
    await insert('test_lines', { lineID: 'beside', orderID });
    const path = '/test_lines?fields=lineID,order.orderID';
    const isShown = (response: Response) =>
      textOf(response).includes(`{"lineID":"beside","order":{"orderID":"${orderID}"}}`);
    const before = await ask('branch', path);
    expect(isShown(before)).toBe(true);
    await query(`UPDATE test_folders SET "parentID" = NULL WHERE "folderID" = 'fa1'`);
    const headers = { 'If-None-Match': String(before.headers.etag) };
    const after = await ask('branch', path, { headers });
    expect([after.status, isShown(after)]).toEqual([200, false]);
    await query(`UPDATE test_folders SET "parentID" = 'fa' WHERE "folderID" = 'fa1'`);
    await query(`DELETE FROM test_lines WHERE "lineID" = 'beside'`);
  });

  it.each(MISTAKES)('shows nothing to a client whose condition is %s', async (client) => {
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    const fault = JSON.stringify(refusal(-1, 'Internal error'));
    for (const path of [
      '/test_orders',
      '/test_orders/a01',
      '/facets/test_orders',
      CHANGES,
      '/test_lines?include=order',
    ]) {
      const response = await ask(client, path, path === CHANGES ? { headers: LINES } : {});
      expect([path, response.status, textOf(response)]).toEqual([path, 500, fault]);
    }
    expect(logged).toHaveBeenCalledWith(expect.stringContaining('The scope of test_orders'));
    logged.mockRestore();
    expect((await ask(client, '/test_lines')).status).toBe(200);
  });
});

describe('Deletions of a resource with a scope', () => {
  const deleted = async (client: string) => deletedIn(textOf(await changesOf(client)));

  it('tell of an object that has moved to another client, and only who has seen it', async () => {
    await insert('test_orders', order('moved', 'a', 0));
    await query(`UPDATE test_orders SET "ownerID" = 'b' WHERE "orderID" = 'moved'`);
    expect(await deleted('a')).toContain('moved');
    for (const client of ['b', 'reader', 'auditor']) {
      expect(await deleted(client)).not.toContain('moved');
    }
    await query(`DELETE FROM test_orders WHERE "orderID" = 'moved'`);
    for (const client of ['a', 'b', 'auditor']) expect(await deleted(client)).toContain('moved');
    expect(await deleted('reader')).not.toContain('moved');
    // Once, also for who has seen it twice.
    const all = await deleted('auditor');
    expect(new Set(all).size).toBe(all.length);
    const response = await changesOf('auditor');
    expect(response.headers['x-total-count']).toBe(String(textOf(response).split('\n').length - 1));
  });

  it('follow every column of the scope', async () => {
    await insert('test_orders', order('told', 'b', 0, { state: 'PUBLIC' }));
    await query(`UPDATE test_orders SET state = 'OPEN' WHERE "orderID" = 'told'`);
    expect(await deleted('reader')).toContain('told');
    expect(await deleted('b')).not.toContain('told');
    await query(`UPDATE test_orders SET state = 'PUBLIC' WHERE "orderID" = 'told'`);
    expect(await deleted('reader')).not.toContain('told');
    await query(`UPDATE test_orders SET "orderID" = 'told-again' WHERE "orderID" = 'told'`);
    for (const client of ['reader', 'b']) expect(await deleted(client)).toContain('told');
    expect(await deleted('a')).not.toContain('told');
  });

  it('record objects without a value, and TRUNCATE', async () => {
    const runner = service.dataSource.createQueryRunner();
    await runner.startTransaction();
    await runner.query(
      `INSERT INTO test_folders ("folderID", name) VALUES ('none', 'N');
       DELETE FROM test_folders WHERE "folderID" = 'none';
       INSERT INTO test_folders ("folderID", name) VALUES ('none', 'N');
       DELETE FROM test_folders WHERE "folderID" = 'none';
       TRUNCATE test_folders CASCADE`,
    );
    const rows = (await runner.query(
      'SELECT "folderID", "ownerID" FROM test_folders_deletions ORDER BY 1',
    )) as Row[];
    await runner.rollbackTransaction();
    await runner.release();
    expect(rows.filter(({ folderID }) => folderID === 'none')).toEqual([
      { folderID: 'none', ownerID: null },
    ]);
    expect(rows).toContainEqual({ folderID: 'fa', ownerID: 'a' });
  });
});

describe('The record of deletions', () => {
  const [scoped, unscoped] = [
    `SELECT install_deletions('test_orders', 'orderID', '{ownerID,state,folderID}')`,
    `SELECT install_deletions('test_orders', 'orderID')`,
  ];

  it('must have the columns of the scope; until then the lists are unavailable', async () => {
    await query(unscoped);
    expect((await differences(service.dataSource)).map(lineOf)).toEqual([
      'the deletions of test_orders record nothing of its columns, its scope names ownerID, state, folderID; ' +
        'run catalogue migrate',
    ]);
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await service.application.get(SchemaCheck).start();
    const paths = ['/test_orders', '/test_lines?include=order', '/facets/test_orders'];
    const statuses = async () => [
      ...(await Promise.all(paths.map(async (path) => (await ask('a', path)).status))),
      (await changesOf('a')).status,
    ];
    expect(await statuses()).toEqual([503, 503, 503, 503]);
    logged.mockRestore();
    const installed = await installDeclared(service.dataSource);
    expect(installed.map(({ statements }) => statements)).toEqual([[scoped]]);
    await until(async () => (await ask('a', '/test_orders')).status === 200);
    expect(await statuses()).toEqual([200, 200, 200, 200]);
  });

  it('must have them in the types of the resource, of any length', async () => {
    const type = (name: string) =>
      query(`ALTER TABLE test_folders_deletions ALTER "ownerID" TYPE ${name}`);
    await type('text');
    expect((await differences(service.dataSource)).map(({ text }) => text)).toEqual([
      'the deletions of test_folders record ownerID of its columns, its scope names ownerID of other types',
    ]);
    await type('varchar(200)');
    expect(await differences(service.dataSource)).toEqual([]);
  });

  it('of a resource without a scope may have more, for instances of another release', async () => {
    await query(`SELECT install_deletions('brands', 'brandID', '{name}')`);
    await query(
      `INSERT INTO brands ("brandID", name) VALUES ('gone', 'One');
       UPDATE brands SET name = 'Two' WHERE "brandID" = 'gone'`,
    );
    await query(`DELETE FROM brands WHERE "brandID" = 'gone'`);
    expect(textOf(await changesOf('auditor', 'brands'))).toBe(
      '{"resource":"brands","deleted":"gone"}\n',
    );
    expect(await installDeclared(service.dataSource)).toEqual([]);
    expect((await differences(service.dataSource)).map(({ text }) => text)).toEqual([
      'the deletions of brands record name of its columns, its scope names nothing',
    ]);
    await installDeclared(service.dataSource, true);
    expect(await differences(service.dataSource)).toEqual([]);
    expect(await query('SELECT "brandID" FROM brands_deletions')).toEqual([{ brandID: 'gone' }]);
  });
});
