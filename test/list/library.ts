import { Module } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { TallyMaintenance } from '#server/tally/maintain.js';
import type { Random } from '#server/testing/random.js';
import { until } from '../until.js';
import { booksModule, ShelvesModule } from './book.fixture.js';
import { insertion } from '#server/testing/load-rows.js';
import { type SharedService, startWith, withClients } from './migrated.js';
import { plainBooks } from './plain-books.js';

/** The clients of the books: one sees everything, two their own, and one its own and others. */
export const CLIENTS = ['tester', 'a', 'other', 'reader'] as const;

/** The books in a table of the service, and in a view of it. */
export const LIBRARY = {
  own: plainBooks('test_books', 'named.books'),
  view: plainBooks('test_viewed_books', 'named.books'),
} as const;

@Module({
  imports: [
    ShelvesModule,
    booksModule('test_books'),
    booksModule('test_viewed_books', { schema: 'library', name: 'open_books' }),
  ],
})
class LibraryModule {}

/** The columns of the tables, by the names of the fields. */
const NAMED = `book_id AS "bookID", book_kind AS kind, book_title AS title, note, shelf_id AS "shelfID",
  author_id AS "authorID", on_loan AS "onLoan", list_price AS price, page_count AS pages, language,
  published_at AS "publishedAt", book_tags AS tags, book_details AS details, owner_id AS "ownerID",
  updated_at AS "updatedAt", words`;

/** Views of the tables, for plain SQL by the names of the fields. */
const NAMED_VIEWS = [
  'CREATE SCHEMA named',
  `CREATE VIEW named.books AS SELECT ${NAMED} FROM test_books`,
  `CREATE VIEW named.shelves AS SELECT shelf_id AS "shelfID", parent_id AS "parentID", shelf_name AS name,
     owner_id AS "ownerID" FROM test_shelves`,
];

/** The service with books on shelves. */
export interface Library extends SharedService {
  /** The resource with a tally. */
  readonly counted: EntityMetadata;
  /** Inserts books into the table of the service, with their words. */
  insert(books: readonly object[]): Promise<void>;
  /** Folds the deltas of the tallies, and cuts their ranges. */
  maintain(): Promise<void>;
}

/** Starts the service with books whose common words are counted. Nothing is kept in the page cache. */
export async function startLibrary(books: readonly object[]): Promise<Library> {
  const service = await startWith(LibraryModule, {
    environment: { PAGE_CACHE_MB: '0', QUERY_TIMEOUT_MS: '60000' },
    before: [
      'CREATE SCHEMA library',
      'CREATE VIEW library.open_books AS SELECT * FROM test_books',
      `SELECT install_words('test_books', '{book_title,note}')`,
      ...NAMED_VIEWS,
    ],
  });
  const { dataSource } = service;
  const counted = dataSource.getMetadata('test_books');
  const insert = async (rows: readonly object[]): Promise<void> => {
    await dataSource.query(...insertion('named.books', rows));
  };
  const maintain = async (): Promise<void> => {
    const maintenance = new TallyMaintenance(dataSource, counted);
    await until(() => maintenance.run());
  };
  await dataSource.query(
    `INSERT INTO test_shelves SELECT 's' || i, CASE WHEN i > 1 THEN 's' || i / 2 END, 'name ' || i % 3,
       (ARRAY['all', 'all', 'a', 'reader', 'other'])[1 + i % 5] FROM generate_series(0, 11) i`,
  );
  await dataSource.query(
    `INSERT INTO test_books_tally_by_words_counted VALUES ('lamp', true), ('^lamp', true), ('robust', true)`,
  );
  await insert(books);
  await dataSource.query('ANALYZE test_books');
  await maintain();
  return { ...(await withClients(service, CLIENTS)), counted, insert, maintain };
}

/** A statement that changes or deletes books, so that they leave lists, join them, or move in them. */
export function bookChange(random: Random, table: string, where: string): string {
  const change = random.pick([
    `SET price = price + 1`,
    `SET price = NULL`,
    `SET price = 50, pages = 100`,
    `SET kind = '${random.pick(['NOVEL', 'ATLAS', 'ERRATA'])}'`,
    `SET "ownerID" = '${random.pick(['a', 'reader', 'other'])}'`,
    `SET "shelfID" = 's${random.below(12)}', "authorID" = NULL`,
    `SET "onLoan" = NOT "onLoan", "publishedAt" = NULL`,
    undefined,
  ]);
  return change === undefined
    ? `DELETE FROM ${table} WHERE ${where}`
    : `UPDATE ${table} ${change} WHERE ${where}`;
}

/** A statement that changes a shelf, so that a subtree moves, or another client sees it. */
export function shelfChange(random: Random): string {
  // Below a shelf of a lower number, so that there is no cycle.
  const [above = 0, below = 0] = [random.below(12), random.below(12)].sort((a, b) => a - b);
  const change = random.pick([
    `name = 'name ${above % 4}'`,
    `"ownerID" = '${random.pick(['all', 'a', 'other'])}'`,
    `"parentID" = ${above === below ? 'NULL' : `'s${above}'`}`,
  ]);
  return `UPDATE named.shelves SET ${change} WHERE "shelfID" = 's${below}'`;
}
