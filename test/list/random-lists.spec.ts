import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { COUNT_PLANS } from '#server/list/plan/count-plans.js';
import { PAGE_PLANS } from '#server/list/plan/page-plans.js';
import { primaryPool } from '#server/private-api/database.js';
import { miscounts } from '#server/verify/object-checks.js';
import { Random } from '#server/testing/random.js';
import {
  bookChange,
  CLIENTS,
  LIBRARY,
  type Library,
  shelfChange,
  startLibrary,
} from './library.js';
import {
  compareFacets,
  comparePage,
  plainPage,
  type PlainPage,
  type PlainRequest,
  type PlainResource,
  randomList,
  without,
} from '#server/testing/oracle.js';
import { BOOK_FILTERS, bookFilters, randomBook, randomFacets } from './plain-books.js';

const BOOKS = 5000;
/** Lists at random; set RANDOM_LISTS for more. */
const LISTS = Number(process.env.RANDOM_LISTS ?? 140);

let library: Library;

beforeAll(async () => {
  const random = new Random('books');
  library = await startLibrary(Array.from({ length: BOOKS }, (_, at) => randomBook(random, at)));
});
afterAll(() => library.stop());

function plain(sql: string): Promise<PlainPage[]> {
  return library.dataSource.query<PlainPage[]>(sql);
}

/** Changes some books and a shelf, or adds some books. */
async function write(random: Random): Promise<void> {
  const ending = `"bookID" LIKE '%${random.below(10)}${random.below(10)}'`;
  const change = bookChange(random, '@table', ending);
  const statements = [
    change.replace('@table', 'named.books'),
    `UPDATE named.books SET title = 'lamp ${random.below(12)}', note = NULL WHERE ${ending}`,
    shelfChange(random),
  ];
  for (const statement of statements) await library.dataSource.query(statement);
  const from = random.below(BOOKS);
  await library.insert(Array.from({ length: 60 }, (_, at) => randomBook(random, from + at)));
}

/** Sends the requests of a client. */
const as = (client: string) => library.as(client);

/** Compares a whole list, which has no limit by default, as NDJSON or CSV. */
async function compareWhole(
  resource: PlainResource,
  request: PlainRequest,
  client: string,
  type: 'application/x-ndjson' | 'text/csv',
): Promise<void> {
  const sent = new URLSearchParams({ ...request, fields: 'bookID' }).toString();
  const [[wanted], { text, headers }] = await Promise.all([
    plain(plainPage(resource, { limit: 'ALL', ...request }, client)),
    as(client).get(`${resource.path}?${sent}`).set('Accept', type),
  ]);
  const lines = text.trimEnd().split(/\r?\n/).filter(Boolean);
  const objects =
    type === 'text/csv'
      ? lines.slice(1)
      : lines.map((line) => (JSON.parse(line) as { bookID: string }).bookID);
  const list = { path: resource.path, type, client, ...request };
  expect({ list, count: headers['x-total-count'], objects }).toEqual({ list, ...wanted });
}

/** Compares pages of a list: often the first one, one within, and one near the end, or behind it. */
async function comparePages(
  random: Random,
  resource: PlainResource,
  request: PlainRequest,
  client: string,
): Promise<void> {
  const compare = (offset: number): Promise<PlainPage> =>
    comparePage(as(client), resource, { ...request, offset: String(offset) }, client);
  const { count } = await compare(random.pick([0, 0, random.below(3000)]));
  await compare(random.below(Number(count) + 1));
  await compare(Math.max(0, Number(count) + 2 - random.below(5)));
}

/** Compares a list in some of its forms. */
async function compareList(
  random: Random,
  resource: PlainResource,
  list: PlainRequest,
  client: string,
): Promise<void> {
  const request = random.chance(0.5) ? list : { ...list, fields: 'bookID' };
  const limit = String(random.pick([0, 1, 3, 3, 20, 60]));
  const compare = (place: PlainRequest, by = client): Promise<PlainPage> =>
    comparePage(as(by), resource, { ...request, limit, ...place }, by);
  await comparePages(random, resource, { ...request, limit }, client);
  if (random.chance(0.2)) {
    // As many pages as it takes for some to be read ahead.
    let offset = random.chance(0.6) ? 0 : random.below(3000);
    for (let page = 0; page < 6; page += 1) {
      const size = random.chance(0.9) ? Math.max(1, Number(limit)) : 7;
      const place = { limit: String(size), offset: String(offset) };
      await compare(place);
      // The walks of two clients differ in the values of the scope alone.
      if (client === 'a') await compare(place, 'other');
      offset += size;
      if (random.chance(0.03)) await write(random);
    }
  }
  const behind = random.chance(0.4) ? await anchor(random, resource, list, client) : {};
  if (random.chance(0.3)) {
    const { objects } = await compare(behind);
    const after = objects.at(-1)?.split(' ', 1)[0];
    if (after !== undefined) await compare({ after });
  }
  if (random.chance(0.3)) {
    const place = random.pick<PlainRequest>([
      {},
      behind,
      { limit: '30', ...behind },
      { limit, offset: '99' },
    ]);
    const type = random.pick(['application/x-ndjson', 'text/csv'] as const);
    await compareWhole(resource, { ...without(list, 'include'), ...place }, client, type);
  }
  if (random.chance(0.2) && resource !== LIBRARY.view) {
    const limit = random.pick(['3', '1000']);
    const [fields, asked] = randomFacets(random);
    const counted = { ...without(list, 'sort', 'include'), ...asked, limit };
    await compareFacets(as(client), resource, fields, counted, { client });
  }
}

/** A place behind an object of all; none if the client does not see it, and is refused a list behind it. */
async function anchor(
  random: Random,
  resource: PlainResource,
  list: PlainRequest,
  client: string,
): Promise<PlainRequest> {
  const place = { limit: '1', offset: String(random.below(3000)) };
  const [all] = await plain(plainPage(resource, place, 'tester'));
  const after = all?.objects[0] ?? '';
  const [seen] = await plain(plainPage(resource, { bookID: after }, client));
  if (seen?.count === '1') return { after };
  for (const type of ['application/json', 'text/csv']) {
    const sent = new URLSearchParams({ ...list, after }).toString();
    await as(client).get(`${resource.path}?${sent}`).set('Accept', type).expect(404);
  }
  return {};
}

/** Variants of plans, each by what only the text of its statement has. */
const WAYS: Readonly<Record<string, RegExp>> = {
  'count of an interval': /counted AS MATERIALIZED \(SELECT \(SELECT greatest/,
  'place among equal values': /value_at AS MATERIALIZED/,
  'place among all': /near AS MATERIALIZED/,
  'count by words': /= ARRAY\[counted\.word\]/,
};

it('Lists have the count and the objects of plain SQL, whatever their conditions, order and place', async () => {
  const random = new Random('lists');
  const asked = jest.spyOn(primaryPool(library.dataSource), 'query');
  const counts = COUNT_PLANS.map((plan) => jest.spyOn(plan, 'of'));
  const taken = new Map(Object.keys(WAYS).map((name) => [name, 0]));
  const note = (): void => {
    for (const [sent] of asked.mock.calls as unknown as [{ text?: string }][]) {
      for (const [name, text] of Object.entries(WAYS)) {
        if (text.test(sent.text ?? '')) taken.set(name, (taken.get(name) ?? 0) + 1);
      }
    }
    asked.mockClear();
  };
  // Lists of every field and object, which may be planned once.
  for (const names of [...BOOK_FILTERS, ...BOOK_FILTERS]) {
    const list = { ...randomList(random, LIBRARY.own, names), limit: random.pick(['3', '60']) };
    await comparePages(random, LIBRARY.own, list, 'tester');
    note();
  }
  const lists: { resource: PlainResource; list: PlainRequest }[] = [];
  for (let at = 0; at < LISTS; at += 1) {
    const resource = LIBRARY[random.pick(['own', 'own', 'own', 'own', 'view'] as const)];
    const made = { resource, list: randomList(random, resource, bookFilters(random)) };
    // Some are asked for again, also by others: what is remembered of them holds, or not.
    const each = lists.length > 5 && random.chance(0.3) ? random.pick(lists.slice(-6)) : made;
    lists.push(each);
    await compareList(random, each.resource, each.list, random.pick(['tester', ...CLIENTS]));
    if (random.chance(0.1)) await write(random);
    if (at % 150 === 149) await library.maintain();
    note();
  }
  // With ranges that are cut.
  await library.maintain();
  for (const list of [
    // One value each of two columns that are counted together.
    { shelfID: 's0', kind: 'NOVEL' },
    { authorID: 'a0', kind: 'NOVEL' },
    { shelfID: 's1', authorID: 'a1' },
    // A value and an interval, of which either may be the rarer one.
    { shelfID: 's3', priceMin: '5' },
    { shelfID: 's3', kind: 'NOVEL', priceMax: '95' },
    { shelfID: 's0', priceMin: '102', sort: 'title' },
    { shelfID: 's0', priceMax: '5', sort: 'title' },
    // A place among equal values, in an order that no index has.
    { sort: 'price,title' },
    { sort: '-price,title' },
    // A place among all books, those of the excluded values, too.
    { authorIDNot: 'a3' },
    { authorIDNot: 'a3,a4', sort: 'price' },
    { shelfIDNot: 's2', kind: 'NOVEL', sort: '-price' },
    { authorIDNot: 'a5', sort: 'publishedAt' },
  ] as PlainRequest[]) {
    await comparePages(random, LIBRARY.own, { ...list, limit: '20' }, 'tester');
    note();
  }
  asked.mockRestore();
  if (process.env.RANDOM_LISTS) console.log(Object.fromEntries(taken));
  expect([...taken].filter(([, times]) => times === 0)).toEqual([]);
  // Each has counted some list, and has not only said why it does not.
  const isUsed = counts.map(({ mock }) =>
    mock.results.some(({ value }) => typeof value !== 'string'),
  );
  expect(isUsed).toEqual(COUNT_PLANS.map(() => true));
  for (const spy of counts) spy.mockRestore();
  const { text } = await as('tester').get('/metrics');
  const unused = PAGE_PLANS.filter(({ name }) => !text.includes(`plan="${name}"`));
  expect(unused).toEqual([]);
  expect(await miscounts(library.dataSource, library.counted)).toEqual([]);
});
