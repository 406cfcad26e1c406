import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Column, type FindOperator, ForeignKey, PrimaryColumn, Raw, VirtualColumn } from 'typeorm';
import {
  BooleanParam,
  identifierColumn,
  IdentifiersParam,
  listOf,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  related,
  Resource,
} from '@catalogue/server';
import { VisibleListing } from '#server/list/visibility/visible-listing.js';
import { callLists } from '#server/verify/called-lists.js';
import { authorReads } from '#server/verify/author-reads.js';
import { findViolations } from '#server/verify/verify.js';
import { logLines } from '../log-lines.js';
import { createDeclared } from '../schema/declared.js';
import { refusal, sharedService } from '../service.js';
import { controllerOf, resourceModule } from './resource-module.js';

@Resource('test_bids', {
  counted: ['ownerID'],
  filtered: ['ownerID', 'lotID'],
  sorted: ['lotID'],
  scope: { columns: ['ownerID'], where: ({ clientID }) => ({ ownerID: clientID }) },
})
class Bid {
  @PrimaryColumn(identifierColumn)
  bidID!: string;

  @Column(identifierColumn)
  ownerID!: string;

  @Column(identifierColumn)
  lotID!: string;

  @VirtualColumn({
    type: 'integer',
    query: (bid) =>
      `SELECT count(*)::integer FROM test_bids other WHERE other."lotID" = ${bid}."lotID"`,
  })
  rivals!: number;
}

@Resource('test_lots')
class Lot {
  @PrimaryColumn(identifierColumn)
  lotID!: string;

  @VirtualColumn({
    type: 'varchar',
    query: (lot) => `SELECT min("ownerID") FROM test_bids WHERE "lotID" = ${lot}."lotID"`,
  })
  bidder!: string | null;

  @VirtualColumn({
    type: 'varchar',
    query: (lot) => `SELECT min("ownerID") FROM test_bidders WHERE "lotID" = ${lot}."lotID"`,
  })
  viewed!: string | null;

  /** What is meant: PostgreSQL does not inline it. */
  @VirtualColumn({ type: 'integer', query: (lot) => `test_bids_of(${lot}."lotID")` })
  bids!: number;

  @VirtualColumn({ type: 'varchar', query: (lot) => `upper(${lot}."lotID")` })
  label!: string;
}

const OBJECTS = `
  CREATE VIEW test_bidders AS SELECT * FROM test_bids;
  CREATE MATERIALIZED VIEW test_known_bids AS SELECT * FROM test_bidders;
  CREATE TABLE test_late_bids () INHERITS (test_bids);
  CREATE FUNCTION test_bids_of(lot text) RETURNS integer STABLE SECURITY DEFINER LANGUAGE sql
    AS 'SELECT count(*)::integer FROM test_bids WHERE "lotID" = lot';
  INSERT INTO test_lots VALUES ('one');
  INSERT INTO test_bids VALUES ('mine', 'tester', 'one'), ('theirs', 'another', 'one')`;

@Resource('test_sales', { filtered: ['lotID'] })
class Sale {
  @PrimaryColumn(identifierColumn)
  saleID!: string;

  @ForeignKey(() => Lot)
  @Column(identifierColumn)
  lotID!: string;
}

@QueryOf(Bid, { sort: ['bidID'] })
class ListBidsDto extends ListQueryDto {}

@QueryOf(Sale, { sort: ['saleID'], include: ['lotID'] })
class ListSalesDto extends ListQueryDto {}

/** Does not say what its SQL reads. */
@QueryOf(Lot, { sort: ['lotID'] })
class ListLotsDto extends ListQueryDto {
  @IdentifiersParam('The lots of the first of these bidders.') bidder?: string[];
  @IdentifiersParam('The lots with these bids, as the client sees them.') bidID?: string[];
  @BooleanParam('The lots whose name is in capitals.') capital?: boolean;
}

/** Says what its SQL reads, and not that some of it reads more. */
@QueryOf(Lot, { sort: ['lotID'], reads: ['test_bids_of'] })
class ListSaidLotsDto extends ListQueryDto {
  @BooleanParam('The lots with bids of anyone.') bidFor?: boolean;
  @BooleanParam('The lots with bids that were withdrawn.') withdrawn?: boolean;
  @BooleanParam('The lots that are an owner of bids.') counted?: boolean;
  @BooleanParam('The lots with counted bids.') sorted?: boolean;
  @BooleanParam('The lots with bids that were known.') known?: boolean;
  @BooleanParam('The lots with late bids.') late?: boolean;
  @IdentifiersParam('The lots of the first of these bidders.') bidder?: string[];
}

@QueryOf(Lot)
class GetLotDto extends ObjectQueryDto {}

@QueryOf(Lot, { reads: ['test_bids_of'] })
class GetSaidLotDto extends ObjectQueryDto {}

const raw = (text: (column: string) => string) => Raw(text) as FindOperator<never>;

const LotsModule = resourceModule(
  [Bid, Lot, Sale],
  controllerOf(
    Lot,
    { list: ListLotsDto, object: GetLotDto },
    {
      // An identifier of a bid, which is not that of a lot; the scope is what matters here.
      bidID: (bidID) => ({ lotID: related(Bid, { bidID }) }),
      capital: () => ({ lotID: raw((lot) => `${lot} = upper(${lot})`) }),
    },
  ),
  controllerOf(
    Lot,
    { path: 'said_lots', list: ListSaidLotsDto, object: GetSaidLotDto },
    {
      bidFor: () => ({ lotID: raw((lot) => `${lot} IN (SELECT "lotID" FROM test_bids)`) }),
      withdrawn: () => ({
        lotID: raw((lot) => `${lot} IN (SELECT "ownerID" FROM test_bids_deletions)`),
      }),
      counted: () => ({
        lotID: raw(
          (lot) => `EXISTS (SELECT FROM test_bids_tally WHERE facet = 'ownerID=' || ${lot})`,
        ),
      }),
      sorted: () => ({
        lotID: raw((lot) => `${lot} IN (SELECT value FROM "test_bids_tally_by_lotID_deltas")`),
      }),
      known: () => ({ lotID: raw((lot) => `${lot} IN (SELECT "lotID" FROM test_known_bids)`) }),
      late: () => ({ lotID: raw((lot) => `${lot} IN (SELECT "lotID" FROM test_late_bids)`) }),
    },
  ),
  controllerOf(Bid, { list: ListBidsDto }),
  controllerOf(Sale, { list: ListSalesDto }),
);

const service = sharedService({}, LotsModule);

beforeAll(async () => {
  await createDeclared(service.dataSource);
  await service.dataSource.query(OBJECTS);
});

const unsaid = (what: string, query: string) =>
  `${what} is SQL past a scope: reads of @QueryOf of ${query} is missing, so that it may read test_bids`;

describe('SQL of an author that does not say what it reads, beside a scope', () => {
  it.each([
    ['/test_lots', unsaid('the field bidder of test_lots', 'ListLotsDto')],
    ['/test_lots?fields=lotID,viewed', unsaid('the field viewed of test_lots', 'ListLotsDto')],
    ['/test_lots/one', unsaid('the field bidder of test_lots', 'GetLotDto')],
    ['/test_lots/one?fields=label', unsaid('the field label of test_lots', 'GetLotDto')],
    ['/test_bids', unsaid('the field rivals of test_bids', 'ListBidsDto')],
    ['/test_sales?include=lot', unsaid('the field bidder of test_lots', 'ListSalesDto')],
    ['/test_sales?fields=lot.label', unsaid('the field label of test_lots', 'ListSalesDto')],
    [
      '/test_lots?fields=lotID&capital=true&limit=0',
      unsaid('a filter by lotID of test_lots', 'ListLotsDto'),
    ],
    [
      '/test_lots?fields=lotID&bidder=another',
      unsaid('a filter by bidder of test_lots', 'ListLotsDto'),
    ],
  ])('is refused in %s, also as a whole list', async (path, message) => {
    for (const accept of ['application/json', 'application/x-ndjson', 'text/csv']) {
      const lines = logLines('error');
      const { status, text } = await service.get(path).set('Accept', accept);
      expect([status, JSON.parse(text)]).toEqual([500, refusal(-1, 'Internal error')]);
      expect(lines[0]).toContain(message);
      jest.restoreAllMocks();
    }
  });

  it.each([
    ['/test_lots?fields=lotID', [{ lotID: 'one' }]],
    ['/test_lots?fields=lotID&bidID=theirs', []],
    ['/test_bids?fields=bidID', [{ bidID: 'mine' }]],
    ['/test_sales?fields=lot.lotID', []],
    ['/test_lots/one?fields=lotID', [{ lotID: 'one' }]],
  ])('is not what %s has', async (path, objects) => {
    const { body } = await service.get(path).expect(200);
    expect(body.response_data.objects).toEqual(objects);
  });
});

describe('SQL of an author that says what it reads', () => {
  it.each([
    ['a resource with a scope', Bid],
    ['its table', 'test_bids'],
    ['its table in SQL', 'public."test_bids"'],
    ['its deletions', 'test_bids_deletions'],
    ['a tally of it', 'test_bids_tally_by_lotID_deltas'],
  ])('is refused if it names %s', (_, read) => {
    @QueryOf(Lot, { reads: ['test_bids_of', read] })
    class NamingDto extends ListQueryDto {}
    const list = listOf(service.dataSource.getRepository(Lot), new NamingDto());
    expect(() => VisibleListing.of(list, { clientID: 'tester' })).toThrow(
      'the field bidder of test_lots is SQL past a scope: reads of @QueryOf of NamingDto names test_bids',
    );
  });

  it.each([
    ['/said_lots?fields=bids,label', [{ bids: 2, label: 'ONE' }]],
    ['/said_lots/one?fields=bids', [{ bids: 2 }]],
  ])('is read in %s', async (path, objects) => {
    const { body } = await service.get(path).expect(200);
    expect(body.response_data.objects).toEqual(objects);
  });

  it('is checked by verify, which names what it reads past a scope', async () => {
    const past = (what: string, table: string) =>
      `${what} of test_lots reads "${table}" by SQL, past its scope`;
    const silent = (what: string, query: string) =>
      `${what} is refused, since it is SQL, and reads of @QueryOf of ${query} does not say what it reads`;
    const lines = [
      'the field rivals of test_bids reads "test_bids" by SQL, past its scope',
      past('the field bidder', 'test_bids'),
      past('the field viewed', 'test_bids'),
      silent('the field rivals of test_bids', 'ListBidsDto'),
      silent('the field label of test_lots', 'ListLotsDto'),
      silent('the filter capital of test_lots', 'ListLotsDto'),
      past('the filter bidFor', 'test_bids'),
      past('the filter withdrawn', 'test_bids_deletions'),
      past('the filter counted', 'test_bids_tally'),
      past('the filter sorted', 'test_bids_tally_by_lotID_deltas'),
      past('the filter known', 'test_bids'),
      past('the filter late', 'test_bids'),
      past('the filter bidder', 'test_bids'),
    ];
    const found = await authorReads(await callLists(service.application), service.application);
    expect(found).toEqual(expect.arrayContaining(lines));
    expect(found.filter((line) => line.includes('ListSaidLotsDto'))).toEqual([]);
    expect(await findViolations(service.application)).toEqual(expect.arrayContaining(lines));
  });
});
