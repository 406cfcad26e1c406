import { describe, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { driverErrorOf } from '#server/database/database-failure.js';
import { databaseOptions } from '#server/database/database-client.js';
import { ReadPool } from '#server/database/read-pool.js';
import { Replicas } from '#server/database/replicas.js';
import { ReservedConnections } from '#server/database/reserved-connections.js';
import { endpointsOf } from '#server/http/endpoints.js';
import { settingsFor } from '#server/http/parameters/declared-parameters.js';
import { ParametersPipe } from '#server/http/parameters/validation.js';
import { identifierQueriesIn } from '#server/list/condition/condition.js';
import { countableFieldsOf } from '#server/list/facets/countable-fields.js';
import { countedListing, FacetReader } from '#server/list/facets/facet-reader.js';
import type { Listing } from '#server/list/listing/listing.js';
import { ListReader } from '#server/list/reading/list-reader.js';
import { ListSources } from '#server/list/reading/list-sources.js';
import { UnavailableResources } from '#server/list/reading/unavailable-resources.js';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { Versions } from '#server/list/reading/versions.js';
import { KnownLists } from '#server/list/statement/known-lists.js';
import { PreparedStatements } from '#server/list/statement/prepared-statements.js';
import { resourcesOf } from '#server/resource/resource.js';
import { CountedWords } from '#server/tally/counted-words.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { tallyOf, type WordTally } from '#server/tally/described-tally.js';
import { Settings } from '#server/settings/settings.js';
import { miscounts } from '#server/verify/object-checks.js';
import { Random } from '#server/testing/random.js';
import { advanceWatermark } from '../watermark.js';
import { insertion } from '#server/testing/load-rows.js';
import { bookChange, CLIENTS, LIBRARY, shelfChange, startLibrary } from './library.js';
import type { SharedService } from './migrated.js';
import { Mirror } from './mirror.js';
import {
  plainFacets,
  plainPage,
  type PlainPage,
  type PlainRequest,
  type PlainResource,
  randomList,
  shownObject,
  without,
} from '#server/testing/oracle.js';
import {
  ARTICLE_CLIENTS,
  ARTICLE_FACETS,
  articleChange,
  PLAIN_ARTICLES,
  randomArticles,
  startArticles,
} from './plain-articles.js';
import { bookFilters, randomBook, randomFacets } from './plain-books.js';
import { shared } from '#server/testing/shared.js';

/** Seconds of each test of both resources. */
const DURATION = Number(process.env.LISTS_TEST_SECONDS ?? 6) / 2;
const WRITERS = 8;
/** Codes of errors that a writer expects of others: a deadlock, and an article that is not there any more. */
const EXPECTED = ['40P01', '23503'];

/** A statement, and its parameter values. */
type Change = [sql: string, values?: unknown[]];

/** A resource whose lists are compared beside writers. */
interface Written {
  readonly plain: PlainResource;
  readonly clients: readonly string[];
  /** The resources with a tally that writers change, the one that is listed first. */
  readonly counted: readonly string[];
  readonly start: () => Promise<SharedService>;
  readonly list: (random: Random) => PlainRequest;
  /** The fields of facet counts, and what they are asked for beside filters. */
  readonly facets: (random: Random) => [fields: readonly string[], request: PlainRequest];
  readonly change: (random: Random) => Change;
  readonly imported: (random: Random) => Record<string, unknown>[];
}

/** Identifiers of books that may exist. */
const NUMBERS = 15_000;

const BOOKS: Written = {
  plain: LIBRARY.own,
  clients: CLIENTS,
  counted: ['test_books'],
  start: () => {
    const random = new Random('books under writers');
    return startLibrary(Array.from({ length: 10_000 }, (_, at) => randomBook(random, at)));
  },
  list: (random) => randomList(random, LIBRARY.own, bookFilters(random)),
  facets: randomFacets,
  change: changeOfBooks,
  imported: (random) =>
    numbered(random.below(NUMBERS), (at) => ({
      bookID: `b${String(at).padStart(5, '0')}`,
      kind: 'NOVEL',
      shelfID: 's2',
      price: '7.50',
    })),
};

const ARTICLES = 5000;

const ARTICLES_WITH_VARIANTS: Written = {
  plain: PLAIN_ARTICLES,
  clients: ARTICLE_CLIENTS,
  counted: ['test_articles', 'test_variants'],
  start: () => startArticles(ARTICLES, { QUERY_TIMEOUT_MS: '60000' }),
  list: randomArticles,
  facets: (random) => {
    const names = ARTICLE_FACETS.filter(() => random.chance(0.5));
    return [names.length > 0 ? names : ARTICLE_FACETS, {}];
  },
  change: (random) => articleChange(random, ARTICLES),
  imported: (random) =>
    numbered(random.below(ARTICLES), (at) => ({
      articleID: `a${at}`,
      name: 'imported',
      kind: 'SHIRT',
      colours: ['red', 'red', 'blue'],
      years: [2020],
    })),
};

function numbered<T>(from: number, make: (at: number) => T): T[] {
  return Array.from({ length: 500 }, (_, at) => make(from + at));
}

/** A reader of lists on one connection, so that a transaction on it gives every page one snapshot. */
class SnapshotReader {
  private constructor(
    private readonly service: SharedService,
    private readonly resource: PlainResource,
    private readonly dataSource: DataSource,
    private readonly reader: ListReader,
    private readonly facetReader: FacetReader,
  ) {}

  static async open(service: SharedService, resource: PlainResource): Promise<SnapshotReader> {
    const { application, database } = service;
    const dataSource = new DataSource(databaseOptions(database.url, { poolSize: 1 }));
    await dataSource.initialize();
    const reads = new ReadPool(dataSource, application.get(Replicas));
    const settings = application.get(Settings);
    const statements = new PreparedStatements();
    const sources = new ListSources(reads, new Versions(), new UnavailableResources());
    const reader = new ListReader(settings, sources, new KnownLists(), statements);
    const facets = new FacetReader(settings, sources, statements);
    return new SnapshotReader(service, resource, dataSource, reader, facets);
  }

  /** Runs work in a transaction with one snapshot. */
  async inSnapshot(work: () => Promise<void>): Promise<void> {
    await this.dataSource.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    try {
      await work();
    } finally {
      await this.dataSource.query('ROLLBACK');
    }
  }

  async comparePage(request: PlainRequest, clientID: string): Promise<PlainPage> {
    const wanted = await this.plain(plainPage(this.resource, request, clientID));
    const visible = VisibleListing.of(await this.listing(request), { clientID });
    const page = await this.reader.prepare(visible).read();
    this.expectEqual({ clientID, ...request }, page, wanted);
    return wanted;
  }

  /** Ends the snapshot. */
  async compareWhole(request: PlainRequest, clientID: string): Promise<void> {
    const { resource } = this;
    const wanted = await this.plain(plainPage(resource, { limit: 'ALL', ...request }, clientID));
    const described = await this.listing({
      ...request,
      ...(request.include === undefined && { fields: resource.identifier }),
    });
    const whole = this.reader.prepare(VisibleListing.of(described, { clientID })).whole('ndjson');
    const open = await whole.open(new AbortController().signal);
    const lines: string[] = [];
    for await (const { text } of open.batches) lines.push(...text.trimEnd().split('\n'));
    await open.close();
    const { count } = open;
    this.expectEqual({ clientID, ...request }, { count, objects: `[${lines.join()}]` }, wanted);
  }

  async compareFacets(
    names: readonly string[],
    list: PlainRequest,
    asked: PlainRequest,
    clientID: string,
  ): Promise<void> {
    const limit = 4;
    const request = { ...list, ...asked, limit: String(limit) };
    const wanted = await this.plain(plainFacets(this.resource, names, request, clientID));
    const described = await this.listing(list);
    const counts = {
      fields: countableFieldsOf(described.repository.metadata.target as Type),
      names,
      limit,
      starts: asked.facetStarts,
      bounds: asked.bounds?.split(','),
    };
    const visible = countedListing(described, counts, { clientID });
    const page = await this.facetReader.prepare(visible, counts).read();
    this.expectEqual({ clientID, ...request }, page, wanted);
  }

  /** Whether a list looks up identifiers. To do so, it opens a snapshot, and closes it with that of the reader. */
  async looksUp(request: PlainRequest): Promise<boolean> {
    return identifierQueriesIn((await this.listing(request)).filters).length > 0;
  }

  private expectEqual(
    list: PlainRequest,
    { count, objects }: { readonly count: string; readonly objects: string },
    wanted: PlainPage,
  ): void {
    const parsed = JSON.parse(objects) as Record<string, unknown>[];
    const shown = parsed.map((each) => shownObject(each, list));
    expect({ list, count, objects: shown }).toEqual({ list, ...wanted });
  }

  /** The list that the handler describes for a request. */
  private async listing(request: PlainRequest): Promise<Listing> {
    const { application } = this.service;
    const endpoint = endpointsOf(application).find(({ path }) => path === this.resource.path);
    if (!endpoint) throw new Error(`There is no list ${this.resource.path}`);
    const sent = Object.entries(request).map(([name, value]) => ({ name, value }));
    const { query: metatype } = endpoint;
    const value = {
      parameters: sent,
      settings: settingsFor(application.get(Settings), undefined),
      queryClass: metatype,
    };
    const query = await new ParametersPipe().transform(value, { type: 'query', metatype });
    const handler = await endpoint.handlerFor();
    return handler({ query: query as object }) as Listing;
  }

  private async plain(sql: string): Promise<PlainPage> {
    const [page] = await this.dataSource.query<[PlainPage]>(sql);
    return page;
  }

  close(): Promise<void> {
    return this.dataSource.destroy();
  }
}

/** What a run has done. It goes on until there was enough of it: on a busy machine, longer than `DURATION`. */
class Run {
  compared = 0;
  /** The comparisons by kind, and by the parameters of their lists. */
  readonly comparisons: Record<string, number> = {};
  written = 0;
  cuts = 0;
  private readonly end = performance.now() + DURATION * 1000;

  note(list: PlainRequest, ...kinds: readonly string[]): void {
    this.compared += 1;
    for (const name of [...kinds, ...Object.keys(list)]) {
      this.comparisons[name] = (this.comparisons[name] ?? 0) + 1;
    }
  }

  readonly isLate = (): boolean => performance.now() > this.end;
  readonly isOver = (): boolean =>
    this.isLate() && this.compared > 30 && this.written > 30 && this.cuts > 0;
}

/** Compares lists in snapshots. */
async function read(
  random: Random,
  service: SharedService,
  written: Written,
  run: Run,
): Promise<void> {
  const reader = await SnapshotReader.open(service, written.plain);
  let lists: PlainRequest[] = [];
  while (!run.isOver()) {
    const client = random.pick(written.clients);
    // Some are asked for again: what is remembered of them may be of an older snapshot.
    const made = written.list(random);
    const list = lists.length > 0 && random.chance(0.5) ? random.pick(lists) : made;
    lists = [...lists.slice(-4), list];
    const limit = String(random.pick([0, 1, 7, 50]));
    const kind = random.number();
    const pages = (await reader.looksUp(list)) ? 1 : random.pick([3, 3, 3, 9]);
    await reader.inSnapshot(async () => {
      if (kind < 0.2) {
        const [names, asked] = written.facets(random);
        const filters = without(list, 'sort', 'include');
        await reader.compareFacets(names, filters, asked, client);
        run.note(filters, 'facets', ...names.map((name) => `facets of ${name}`));
        return;
      }
      if (kind < 0.3) {
        await reader.compareWhole(list, client);
        run.note(list, 'whole');
        return;
      }
      let offset = random.chance(0.3) ? 0 : random.below(4000 / random.pick([1, 10, 50]));
      let after: string | undefined;
      for (let page = 0; page < pages; page += 1) {
        const place: PlainRequest = after === undefined ? { offset: String(offset) } : { after };
        const { objects } = await reader.comparePage({ ...list, limit, ...place }, client);
        run.note(list, 'page');
        offset += Number(limit);
        // Some are walked on behind the last object, others by the offset.
        after = random.chance(0.3) ? objects.at(-1)?.split(' ', 1)[0] : undefined;
      }
    });
  }
  await reader.close();
}

/** Writes. Some transactions roll back. */
async function write(
  random: Random,
  { dataSource }: SharedService,
  { change }: Written,
  run: Pick<Run, 'written' | 'isOver'>,
  isOver = run.isOver,
): Promise<void> {
  const runner = dataSource.createQueryRunner();
  while (!isOver()) {
    await runner.startTransaction();
    try {
      for (let left = 1 + random.below(3); left > 0; left -= 1) {
        await runner.query(...change(random));
      }
      await (random.chance(0.25) ? runner.rollbackTransaction() : runner.commitTransaction());
      run.written += 1;
    } catch (error) {
      await runner.rollbackTransaction();
      requireExpected(error);
    }
    // Readers need a turn.
    await sleep(random.below(40));
  }
  await runner.release();
}

function requireExpected(error: unknown): void {
  if (!EXPECTED.includes(driverErrorOf(error).code ?? '')) throw error;
}

function changeOfBooks(random: Random): Change {
  const from = random.below(NUMBERS);
  const inserted = (count: number) =>
    insertion(
      'named.books',
      Array.from({ length: count }, (_, at) => randomBook(random, from + at)),
    );
  const range = (length: number): string => {
    const [first, end] = [from, from + length].map((at) => `'b${String(at).padStart(5, '0')}'`);
    return `"bookID" >= ${first} AND "bookID" < ${end}`;
  };
  return random.pick<() => Change>([
    () => inserted(1),
    () => inserted(random.below(400) + 1),
    // The triggers count many rows in another way than few.
    () => inserted(1500),
    () => [bookChange(random, 'named.books', range(1 + random.below(100)))],
    () => [bookChange(random, 'named.books', range(1 + random.below(100)))],
    () => [bookChange(random, 'named.books', range(1 + random.below(100)))],
    () => [shelfChange(random)],
    () => [`UPDATE named.books SET title = 'moved lamp', price = price + 1 WHERE ${range(2000)}`],
    () => [`UPDATE named.books SET kind = 'ATLAS', "ownerID" = 'a' WHERE ${range(100)}`],
    () => [`DELETE FROM named.books WHERE ${range(random.below(400))}`],
    () => [
      `INSERT INTO named.books SELECT * FROM named.books WHERE ${range(200)}
       ON CONFLICT ("bookID") DO UPDATE SET price = excluded.price + 1, "onLoan" = NULL, note = 'robust'`,
    ],
  ])();
}

/** Imports objects, as a command does. */
async function load(
  random: Random,
  service: SharedService,
  { counted: [resource = ''], imported }: Written,
  run: Run,
): Promise<void> {
  while (!run.isOver()) {
    await service.load(resource, imported(random)).catch(requireExpected);
    await sleep(200);
  }
}

describe.each([BOOKS, ARTICLES_WITH_VARIANTS])('Of $plain.path', (written) => {
  const { plain, clients, counted } = written;
  const [resource = ''] = counted;
  const service = shared(() => written.start());

  it('lists under writers have the count, the page, its related objects and the facets of plain SQL in the same snapshot', async () => {
    const { dataSource, application } = service;
    const resources = counted.flatMap((name) => resourcesOf(dataSource).get(name) ?? []);
    const run = new Run();
    const cuts = async (): Promise<number> => {
      const sql = 'SELECT cuts::integer FROM tallies WHERE resource = $1';
      const [row] = await dataSource.query<{ cuts: number }[]>(sql, [resource]);
      return row?.cuts ?? NaN;
    };
    const maintain = async (): Promise<void> => {
      const maintenance = resources.map((each) => new TallyMaintenance(dataSource, each));
      const before = await cuts();
      while (!run.isOver()) {
        for (const each of maintenance) await each.run();
        run.cuts = (await cuts()) - before;
        await sleep(20);
      }
    };
    const [listed] = resources;
    if (!listed) throw new Error(`There is no resource ${resource}`);
    const tallies = tallyOf(listed).byWord;
    const chooseWords = async (tally: WordTally): Promise<void> => {
      const words = new CountedWords(application.get(ReservedConnections), listed, tally);
      while (!run.isOver()) {
        await words.run();
        await sleep(200);
        // As if it had become rare. The statistics bring it back.
        await dataSource.query(`DELETE FROM ${tally.words} WHERE word = 'lamp' AND random() < 0.5`);
      }
      while (!(await words.run())) await sleep(50);
    };
    await Promise.all([
      ...[0, 1].map((at) => read(new Random(`reader ${at}`), service, written, run)),
      write(new Random('writer 0'), service, written, run),
      // On a busy machine, the transactions of several leave no moment for a cut. Later, one writes alone.
      ...Array.from({ length: WRITERS - 1 }, (_, at) =>
        write(new Random(`writer ${at + 1}`), service, written, run, run.isLate),
      ),
      load(new Random('import'), service, written, run),
      maintain(),
      ...tallies.map(chooseWords),
    ]);
    if (process.env.LISTS_TEST_SECONDS) console.log(run);
    for (const { words } of tallies) {
      const sql = `SELECT word FROM ${words} WHERE NOT is_counted`;
      expect(await dataSource.query(sql)).toEqual([]);
    }
    for (const each of resources) expect(await miscounts(dataSource, each)).toEqual([]);
  });

  it('copies that clients keep of what they see stay in step with writers that move objects between them', async () => {
    const { dataSource } = service;
    await advanceWatermark(dataSource, 2);
    const end = performance.now() + DURATION * 1000;
    const run = { written: 0, rounds: 0, isOver: () => performance.now() > end && run.rounds > 10 };
    const advance = async (): Promise<void> => {
      while (!run.isOver()) {
        await dataSource.query(`SELECT advance_watermark('1 ms')`);
        await sleep(30);
      }
    };
    const copies = clients.map((clientID) => ({
      clientID,
      mirror: new Mirror(service.as(clientID), resource, plain.identifier),
    }));
    const follow = async ({ mirror }: (typeof copies)[number]): Promise<void> => {
      for (; !run.isOver(); run.rounds += 1) await mirror.round();
    };
    await Promise.all([
      ...copies.map(follow),
      ...[0, 1, 2].map((at) => write(new Random(`writer of copies ${at}`), service, written, run)),
      advance(),
    ]);
    if (process.env.LISTS_TEST_SECONDS) console.log(run);
    for (const { clientID, mirror } of copies) {
      await mirror.round();
      const sql = plainPage(plain, { limit: 'ALL' }, clientID);
      const [page] = await dataSource.query<[PlainPage]>(sql);
      const objects = [...mirror.objects.keys()].sort();
      expect({ clientID, objects }).toEqual({ clientID, objects: page.objects });
    }
  });
});
