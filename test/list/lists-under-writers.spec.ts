import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Type } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { driverErrorOf } from '../../src/database/database-failure.js';
import { databaseOptions } from '../../src/database/options.js';
import { ReadPool } from '../../src/database/read-pool.js';
import { Replicas } from '../../src/database/replicas.js';
import { ReservedConnections } from '../../src/database/reserved-connections.js';
import { endpointsOf } from '../../src/http/endpoints.js';
import { ParametersPipe } from '../../src/http/parameters/parameters.pipe.js';
import { facetFieldsOf } from '../../src/list/facets/facet-fields.js';
import { FacetCounts, FacetReader } from '../../src/list/facets/facet-reader.js';
import type { Listing } from '../../src/list/listing/listing.js';
import { Dependencies } from '../../src/list/reading/dependencies.js';
import { ListReader } from '../../src/list/reading/list-reader.js';
import { PageReader } from '../../src/list/reading/page-reader.js';
import { UnavailableResources } from '../../src/list/reading/unavailable-resources.js';
import { UnscopedReads } from '../../src/list/reading/unscoped-reads.js';
import { Versions } from '../../src/list/reading/versions.js';
import { KnownLists } from '../../src/list/statement/known-lists.js';
import { PreparedStatements } from '../../src/list/statement/prepared-statements.js';
import { CountedWords } from '../../src/tally/counted-words.js';
import { TallyMaintenance } from '../../src/tally/maintain.js';
import { wordTallies } from '../../src/tally/word-tally.js';
import { Settings } from '../../src/settings/settings.js';
import { miscounts } from '../../src/verify/miscounts.js';
import { Random } from '../random.js';
import { advanceWatermark } from '../watermark.js';
import {
  bookChange,
  CLIENTS,
  insertion,
  LIBRARY,
  type Library,
  shelfChange,
  startLibrary,
} from './library.js';
import {
  plainFacets,
  plainPage,
  type PlainPage,
  type PlainRequest,
  randomList,
  shownObject,
  without,
} from './oracle.js';
import { Mirror } from './mirror.js';
import { bookFilters, randomBook, randomFacets } from './plain-books.js';

/** Seconds of the run. */
const DURATION = Number(process.env.LISTS_TEST_SECONDS ?? 6);
/** Identifiers that may exist. */
const NUMBERS = 15_000;
const WRITERS = 8;

let library: Library;

beforeAll(async () => {
  const random = new Random('books under writers');
  library = await startLibrary(Array.from({ length: 10_000 }, (_, at) => randomBook(random, at)));
});
afterAll(() => library.stop());

/** A reader of lists on one connection, so that a transaction on it gives every page one snapshot. */
class SnapshotReader {
  private constructor(
    private readonly dataSource: DataSource,
    private readonly reader: ListReader,
    private readonly facetReader: FacetReader,
  ) {}

  static async open({ application, database }: Library): Promise<SnapshotReader> {
    const dataSource = new DataSource(databaseOptions(database.url, { poolSize: 1 }));
    await dataSource.initialize();
    const reads = new ReadPool(dataSource, application.get(Replicas));
    const settings = application.get(Settings);
    const statements = new PreparedStatements();
    const reader = new ListReader(
      settings,
      reads,
      new Versions(),
      // It opens a transaction of its own.
      application.get(Dependencies),
      new UnavailableResources(),
      new PageReader(new KnownLists(), statements),
      application.get(UnscopedReads),
    );
    const facets = new FacetReader(settings, reads, reader, statements);
    return new SnapshotReader(dataSource, reader, facets);
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
    const wanted = await this.plain(plainPage(LIBRARY.own, request, clientID));
    const page = await this.reader.prepare(await listing(request), { clientID }).read();
    const objects = JSON.parse(page.objects) as Record<string, unknown>[];
    const shown = objects.map((each) => shownObject(each, request));
    const list = { clientID, ...request };
    expect({ list, count: page.count, objects: shown }).toEqual({ list, ...wanted });
    return wanted;
  }

  /** Ends the snapshot. */
  async compareWhole(list: PlainRequest, clientID: string): Promise<void> {
    const request = without(list, 'include');
    const wanted = await this.plain(plainPage(LIBRARY.own, { limit: 'ALL', ...request }, clientID));
    const described = await listing({ ...request, fields: 'bookID' });
    const whole = this.reader.prepare(described, { clientID }).whole('csv');
    const open = await whole.open(new AbortController().signal);
    let text = '';
    for await (const batch of open.batches) text += batch.text;
    await open.close();
    const objects = text.trimEnd().split('\r\n').slice(1);
    const asked = { clientID, ...request };
    expect({ asked, count: open.count, objects }).toEqual({ asked, ...wanted });
  }

  async compareFacets(random: Random, list: PlainRequest, clientID: string): Promise<void> {
    const limit = 4;
    const [names, { bounds, facetStarts: starts }] = randomFacets(random);
    const filters = without(list, 'sort', 'include');
    const request = {
      ...filters,
      limit: String(limit),
      ...(bounds && { bounds }),
      ...(starts && { facetStarts: starts }),
    };
    const wanted = await this.plain(plainFacets(LIBRARY.own, names, request, clientID));
    const described = await listing(filters);
    const fields = facetFieldsOf(described.repository.metadata.target as Type);
    const counts = new FacetCounts(described, {
      fields,
      names,
      limit,
      starts,
      bounds: bounds?.split(','),
    });
    const page = await this.facetReader.prepare(counts, { clientID }).read();
    const objects = JSON.parse(page.objects) as Record<string, unknown>[];
    const shown = objects.map((each) => shownObject(each, request));
    const asked = { clientID, ...request };
    expect({ asked, count: page.count, objects: shown }).toEqual({ asked, ...wanted });
  }

  private async plain(sql: string): Promise<PlainPage> {
    const [page] = await this.dataSource.query<[PlainPage]>(sql);
    return page;
  }

  close(): Promise<void> {
    return this.dataSource.destroy();
  }
}

/** The list that the handler of the books describes for a request. */
async function listing(request: PlainRequest): Promise<Listing> {
  const { application } = library;
  const endpoint = endpointsOf(application).find(({ path }) => path === LIBRARY.own.path);
  if (!endpoint) throw new Error('There is no list of books');
  const sent = Object.entries(request).map(([name, value]) => ({ name, value }));
  const pipe = new ParametersPipe(application.get(Settings));
  const query = await pipe.transform(sent, { type: 'query', metatype: endpoint.query });
  const handler = await endpoint.handlerFor();
  return handler({ query: query as object }) as Listing;
}

/** What a run has done. It goes on until there was enough of it: on a busy machine, longer than `DURATION`. */
class Run {
  compared = 0;
  written = 0;
  cuts = 0;
  private readonly end = performance.now() + DURATION * 1000;

  readonly isLate = (): boolean => performance.now() > this.end;
  readonly isOver = (): boolean =>
    this.isLate() && this.compared > 30 && this.written > 30 && this.cuts > 0;
}

/** Compares lists in snapshots. */
async function read(random: Random, run: Run): Promise<void> {
  const reader = await SnapshotReader.open(library);
  let lists: PlainRequest[] = [];
  while (!run.isOver()) {
    const client = random.pick(CLIENTS);
    // Some are asked for again: what is remembered of them may be of an older snapshot.
    const made = randomList(random, LIBRARY.own, bookFilters(random));
    const list = lists.length > 0 && random.chance(0.5) ? random.pick(lists) : made;
    lists = [...lists.slice(-4), list];
    const limit = String(random.pick([0, 1, 7, 50]));
    const kind = random.number();
    // To look up identifiers, and to read a whole list, a snapshot is opened, and closed with that of the reader.
    const looksUp = ['within', 'shelfName', 'shelfOr'].some((name) => name in list);
    const pages = looksUp ? 1 : random.pick([3, 3, 3, 9]);
    await reader.inSnapshot(async () => {
      if (kind < 0.2) return reader.compareFacets(random, list, client);
      if (kind < 0.3) return reader.compareWhole(list, client);
      let offset = random.chance(0.3) ? 0 : random.below(4000 / random.pick([1, 10, 50]));
      let after: string | undefined;
      for (let page = 0; page < pages; page += 1) {
        const place: PlainRequest = after === undefined ? { offset: String(offset) } : { after };
        const { objects } = await reader.comparePage({ ...list, limit, ...place }, client);
        run.compared += 1;
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
  run: Pick<Run, 'written' | 'isOver'>,
  isOver = run.isOver,
): Promise<void> {
  const runner = library.dataSource.createQueryRunner();
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
      // A deadlock is expected if two writers change the same objects in different orders.
      if (driverErrorOf(error).code !== '40P01') throw error;
    }
    // Readers need a turn.
    await sleep(random.below(40));
  }
  await runner.release();
}

function change(random: Random): [sql: string, values?: unknown[]] {
  const from = random.below(NUMBERS);
  const inserted = (count: number) =>
    insertion(Array.from({ length: count }, (_, at) => randomBook(random, from + at)));
  const range = (length: number): string => {
    const [first, end] = [from, from + length].map((at) => `'b${String(at).padStart(5, '0')}'`);
    return `"bookID" >= ${first} AND "bookID" < ${end}`;
  };
  return random.pick<() => [sql: string, values?: unknown[]]>([
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

/** Imports books, as a command does. */
async function load(random: Random, run: Run): Promise<void> {
  while (!run.isOver()) {
    const from = random.below(NUMBERS);
    const rows = Array.from({ length: 500 }, (_, at) => ({
      bookID: `b${String(from + at).padStart(5, '0')}`,
      kind: 'NOVEL',
      shelfID: 's2',
      price: '7.50',
    }));
    await library.load('test_books', rows).catch((error: unknown) => {
      if (driverErrorOf(error).code !== '40P01') throw error;
    });
    await sleep(200);
  }
}

it('Lists under writers have the count, the page, its related objects and the facets of plain SQL in the same snapshot', async () => {
  const { dataSource, application, counted } = library;
  const [books] = counted;
  const [tally] = books ? wordTallies(books) : [];
  if (!books || !tally) throw new Error('There are no books');
  const run = new Run();
  const cuts = async (): Promise<number> => {
    const sql = `SELECT cuts::integer FROM tallies WHERE resource = 'test_books'`;
    const [row] = await dataSource.query<{ cuts: number }[]>(sql);
    return row?.cuts ?? NaN;
  };
  const maintain = async (): Promise<void> => {
    const maintenance = new TallyMaintenance(dataSource, books);
    const before = await cuts();
    while (!run.isOver()) {
      await maintenance.run();
      run.cuts = (await cuts()) - before;
      await sleep(20);
    }
  };
  const chooseWords = async (): Promise<void> => {
    const words = new CountedWords(application.get(ReservedConnections), books, tally);
    while (!run.isOver()) {
      await words.run();
      await sleep(200);
      // As if it had become rare. The statistics bring it back.
      await dataSource.query(`DELETE FROM ${tally.words} WHERE word = 'lamp' AND random() < 0.5`);
    }
    while (!(await words.run())) await sleep(50);
  };
  await Promise.all([
    ...[0, 1].map((at) => read(new Random(`reader ${at}`), run)),
    write(new Random('writer 0'), run),
    // On a busy machine, the transactions of several leave no moment for a cut. Later, one writes alone.
    ...Array.from({ length: WRITERS - 1 }, (_, at) =>
      write(new Random(`writer ${at + 1}`), run, run.isLate),
    ),
    load(new Random('import'), run),
    maintain(),
    chooseWords(),
  ]);
  if (process.env.LISTS_TEST_SECONDS) console.log(run);
  const words = await dataSource.query(`SELECT word FROM ${tally.words} WHERE NOT is_counted`);
  expect(words).toEqual([]);
  expect(await miscounts(dataSource, books)).toEqual([]);
});

it('Copies that clients keep of what they see stay in step with writers that move books between them', async () => {
  const { dataSource, tokens } = library;
  await advanceWatermark(dataSource, 2);
  const end = performance.now() + DURATION * 1000;
  const run = { written: 0, rounds: 0, isOver: () => performance.now() > end && run.rounds > 10 };
  const advance = async (): Promise<void> => {
    while (!run.isOver()) {
      await dataSource.query(`SELECT advance_watermark('1 ms')`);
      await sleep(30);
    }
  };
  const copies = CLIENTS.map((clientID) => {
    const service = { ...library, clientID, token: tokens.get(clientID) ?? '' };
    return { clientID, mirror: new Mirror(service, 'test_books', 'bookID') };
  });
  const follow = async ({ mirror }: (typeof copies)[number]): Promise<void> => {
    for (; !run.isOver(); run.rounds += 1) await mirror.round();
  };
  await Promise.all([
    ...copies.map(follow),
    ...[0, 1, 2].map((at) => write(new Random(`writer of copies ${at}`), run)),
    advance(),
  ]);
  if (process.env.LISTS_TEST_SECONDS) console.log(run);
  for (const { clientID, mirror } of copies) {
    await mirror.round();
    const sql = plainPage(LIBRARY.own, { limit: 'ALL' }, clientID);
    const [page] = await dataSource.query<[PlainPage]>(sql);
    const books = [...mirror.objects.keys()].sort();
    expect({ clientID, books }).toEqual({ clientID, books: page.objects });
  }
});
