import { type Type } from '@nestjs/common';
import {
  And,
  ArrayContains,
  Between,
  Column,
  ForeignKey,
  In,
  Index,
  IsNull,
  LessThan,
  Like,
  MoreThan,
  MoreThanOrEqual,
  Not,
  PrimaryColumn,
  Raw,
  UpdateDateColumn,
  VirtualColumn,
} from 'typeorm';
import {
  BooleanParam,
  containsWords,
  DateTimeParam,
  DecimalParam,
  EnumsParam,
  identifierColumn,
  IdentifiersParam,
  IntegerParam,
  ListQueryDto,
  nameColumn,
  QueryOf,
  related,
  Resource,
  TextParam,
  TextsParam,
  timeColumn,
  within,
  WordsParam,
} from '@catalogue/server';
import type { ExternalTable } from '#server/resource/declaration.js';
import { controllerOf, resourceModule } from './resource-module.js';

export enum BookKind {
  NOVEL = 'NOVEL',
  ATLAS = 'ATLAS',
  ERRATA = 'ERRATA',
}

/** A tree, of which a client sees a part. */
@Resource('test_shelves', {
  filtered: ['parentID', 'name'],
  scope: {
    columns: ['ownerID'],
    where: ({ clientID }) => (clientID === 'tester' ? {} : { ownerID: In(['all', clientID]) }),
  },
})
export class Shelf {
  @PrimaryColumn({ ...identifierColumn, name: 'shelf_id' })
  shelfID!: string;

  @ForeignKey(() => Shelf)
  @Column({ ...identifierColumn, name: 'parent_id', nullable: true })
  parentID!: string | null;

  @Column({ ...nameColumn, name: 'shelf_name' })
  name!: string;

  @Column({ ...identifierColumn, name: 'owner_id' })
  ownerID!: string;
}

@QueryOf(Shelf, { sort: ['shelfID'] })
class ListShelvesDto extends ListQueryDto {}

export const ShelvesModule = resourceModule([Shelf], controllerOf(Shelf, { list: ListShelvesDto }));

const COUNTED = ['kind', 'shelfID', 'authorID', 'onLoan', 'ownerID'] as const;
const COMBINED = [
  ['shelfID', 'kind'],
  ['authorID', 'kind'],
  ['kind', 'onLoan'],
  ['ownerID', 'kind'],
  ['shelfID', 'authorID'],
] as const;

/** The columns that the tally counts, as `install_tally` takes them. */
export const BOOKS_COUNTED = `{${[...COUNTED, ...COMBINED.map((each) => each.join('+'))].join()}}`;

/**
 * A resource with every kind of column, filter and order: a table of its own, or an external one. Its columns have other
 * names than its fields.
 *
 * @param external absent: a table of its own
 */
export function booksModule(resource: string, external?: ExternalTable): Type {
  const time = external ? Column : UpdateDateColumn;

  @Resource(resource, {
    external,
    ...(!external && {
      counted: [...COUNTED, ...COMBINED],
      filtered: ['kind', 'shelfID', 'authorID', 'onLoan', 'price', 'pages', 'language', 'ownerID'],
      sorted: ['title', 'price', 'publishedAt'],
      searched: ['words'],
      derived: { words: ['title', 'note'] },
      intervals: [{ of: 'price' }, { of: 'price', within: ['shelfID', 'kind'] }],
    }),
    // A client sees its own books; a reader also those of a kind, whose condition is one of two.
    scope: {
      columns: ['ownerID', 'kind'],
      where: ({ clientID }) => {
        if (clientID === 'tester') return {};
        if (clientID === 'reader') return [{ ownerID: clientID }, { kind: BookKind.ATLAS }];
        return { ownerID: clientID };
      },
    },
  })
  class Book {
    @PrimaryColumn({ ...identifierColumn, name: 'book_id' })
    bookID!: string;

    @Column({ name: 'book_kind', type: 'enum', enum: BookKind, enumName: 'test_book_kind' })
    kind!: BookKind;

    @Column({ ...nameColumn, name: 'book_title', nullable: true })
    title!: string | null;

    @Column({ ...nameColumn, nullable: true })
    note!: string | null;

    @ForeignKey(() => Shelf)
    @Column({ ...identifierColumn, name: 'shelf_id', nullable: true })
    shelfID!: string | null;

    @Column({ ...identifierColumn, name: 'author_id', nullable: true })
    authorID!: string | null;

    @Column({ name: 'on_loan', type: 'boolean', nullable: true })
    onLoan!: boolean | null;

    @Column({ name: 'list_price', type: 'numeric', nullable: true })
    price!: string | null;

    @Column({ name: 'page_count', type: 'integer', nullable: true })
    pages!: number | null;

    @Column({ ...identifierColumn, length: 2, nullable: true })
    language!: string | null;

    @Column({ ...timeColumn, name: 'published_at', nullable: true })
    publishedAt!: Date | null;

    @Index({ type: 'gin' })
    @Column({ name: 'book_tags', type: 'text', array: true, nullable: true })
    tags!: string[] | null;

    @Column({ name: 'book_details', type: 'jsonb', nullable: true })
    details!: object | null;

    @Column({ ...identifierColumn, name: 'owner_id', select: false, default: 'other' })
    ownerID!: string;

    @time({ ...timeColumn, name: 'updated_at' })
    updatedAt!: Date;

    @Index({ type: 'gin' })
    @Column({ type: 'tsvector', select: false, insert: false, update: false, nullable: true })
    words!: string | null;

    @VirtualColumn({ type: 'integer', query: (book) => `SELECT 2 * ${book}.page_count` })
    doubled!: number | null;
  }

  @QueryOf(Book, {
    sort: ['bookID', 'title', 'price', 'publishedAt'],
    include: ['shelfID'],
    reads: [],
  })
  class ListBooksDto extends ListQueryDto {
    @IdentifiersParam('With these identifiers.') bookID?: string[];
    @EnumsParam('Of these kinds.', BookKind) kind?: BookKind[];
    @EnumsParam('Of other kinds.', BookKind) kindNot?: BookKind[];
    @IdentifiersParam('On these shelves.') shelfID?: string[];
    @IdentifiersParam('On other shelves, or on none.') shelfIDNot?: string[];
    @BooleanParam('On a shelf, or on none.') shelfIDExists?: boolean;
    @IdentifiersParam('On these shelves, or on one below them.') within?: string[];
    @TextsParam('On shelves of these names.') shelfName?: string[];
    @IdentifiersParam('By these authors.') authorID?: string[];
    @IdentifiersParam('By other authors, or by none.') authorIDNot?: string[];
    @BooleanParam('On loan, or not.') onLoan?: boolean;
    @IdentifiersParam('Of these owners.') ownerID?: string[];
    @DecimalParam('At this price or more.') priceMin?: string;
    @DecimalParam('At this price or less.') priceMax?: string;
    @DecimalParam('At more than this price.') priceAbove?: string;
    @DecimalParam('At less than this price.') priceBelow?: string;
    @BooleanParam('With a price, or without.') priceExists?: boolean;
    @DecimalParam('At less than 10 above this price.') priceFrom?: string;
    @IntegerParam('With so many pages, or up to 20 less.') pagesAround?: number;
    @IntegerParam('With at least so many pages.') pagesMin?: number;
    @BooleanParam('Without a number of pages.') isUnpaged?: boolean;
    @TextsParam('In these languages.', { maximum: 2 }) language?: string[];
    @TextParam('In another language.', { maximum: 2 }) languageOther?: string;
    @DateTimeParam('Published at this time or later.') publishedSince?: Date;
    @DateTimeParam('Published before this time.') publishedUntil?: Date;
    @TextsParam('With one of these tags.') tags?: string[];
    @TextsParam('With all of these tags.') everyTag?: string[];
    @TextsParam('With none of these tags.') tagsNot?: string[];
    @BooleanParam('With a tag, or without.') tagsExists?: boolean;
    @TextParam('By this author, or in this language.') either?: string;
    @TextParam('On a shelf of this name, or in this language.') shelfOr?: string;
    @TextsParam('In one language, or in another.', { maximum: 2 }) oneOrOther?: string[];
    @IntegerParam('With a title of more characters.') titleLonger?: number;
    @TextParam('With a title that begins so.') titleBegins?: string;
    @TextParam('With a title that begins with this.') titleStarts?: string;
    @IntegerParam('With half as many pages.') doubled?: number;
    @WordsParam('With these words, or with this identifier.') q?: string;
  }

  Object.defineProperty(Book, 'name', { value: `Book${resource}` });
  return resourceModule(
    [Book],
    controllerOf(
      Book,
      { list: ListBooksDto },
      {
        within: (shelves) => ({ shelfID: within(Shelf, shelves) }),
        shelfName: (name) => ({ shelfID: related(Shelf, { name }) }),
        priceAbove: (bound) => ({ price: MoreThan(bound) }),
        priceBelow: (bound) => ({ price: LessThan(bound) }),
        priceFrom: (bound) => ({
          price: And(MoreThanOrEqual(bound), LessThan(String(Number(bound) + 10))),
        }),
        pagesAround: (pages) => ({ pages: Between(pages - 20, pages) }),
        isUnpaged: (isUnpaged) => ({ pages: isUnpaged ? IsNull() : Not(IsNull()) }),
        language: (languages) => ({ language: In(languages) }),
        languageOther: (language) => ({ language: Not(language) }),
        everyTag: (tags) => ({ tags: ArrayContains(tags) }),
        either: (text) => [{ authorID: text }, { language: text }],
        shelfOr: (name) => [
          { shelfID: related(Shelf, { name }) },
          { language: name, pages: MoreThanOrEqual(200) },
        ],
        // SQL that an author of a resource forgot to put into brackets.
        oneOrOther: ([one, other]) => ({
          language: Raw((column) => `${column} = :one OR ${column} = :other`, { one, other }),
        }),
        titleLonger: (length) => ({
          title: Raw((title) => `length(${title}) > :length`, { length }),
        }),
        titleBegins: (text) => ({ title: Like(`${text}%`) }),
        doubled: (doubled) => ({ doubled }),
        q: (words) => ({ words: containsWords(words, ['bookID', 'note']) }),
      },
    ),
  );
}
