import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Column,
  type FindOperator,
  ForeignKey,
  PrimaryColumn,
  Raw,
  Repository,
  VirtualColumn,
} from 'typeorm';
import { checkLists } from '../../src/cli/serve.js';
import { CommandError } from '../../src/command-error.js';
import {
  BooleanParam,
  IdentifiersParam,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  type ObjectLookup,
  objectOf,
  ObjectQueryDto,
  QueryOf,
  related,
} from '../../src/list/index.js';
import { identifierColumn, Resource } from '../../src/resource/index.js';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import { findViolations } from '../../src/verify/verify.js';
import { logLines } from '../log-lines.js';
import { refusal, type Service, startService } from '../service.js';

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

@QueryOf(Lot, { sort: ['lotID'] })
class ListLotsDto extends ListQueryDto {
  @BooleanParam('The lots with bids of anyone.') bidFor?: boolean;
  @BooleanParam('The lots with bids that were withdrawn.') withdrawn?: boolean;
  @BooleanParam('The lots that are an owner of bids.') counted?: boolean;
  @BooleanParam('The lots with counted bids.') sorted?: boolean;
  @BooleanParam('The lots with bids that were known.') known?: boolean;
  @BooleanParam('The lots with late bids.') late?: boolean;
  @IdentifiersParam('The lots of the first of these bidders.') bidder?: string[];
  @IdentifiersParam('The lots with these bids, as the client sees them.') bidID?: string[];
  @BooleanParam('The lots whose name is in capitals.') capital?: boolean;
}

@QueryOf(Lot)
class GetLotDto extends ObjectQueryDto {}

const raw = (text: (column: string) => string) => Raw(text) as FindOperator<never>;

@Controller()
class LotsController {
  constructor(
    @InjectRepository(Lot) private readonly lots: Repository<Lot>,
    @InjectRepository(Bid) private readonly bids: Repository<Bid>,
    @InjectRepository(Sale) private readonly sales: Repository<Sale>,
  ) {}

  @Get('test_lots')
  list(@Query() query: ListLotsDto): Listing {
    return listOf(this.lots, query, {
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
      // An identifier of a bid, which is not that of a lot; the scope is what matters here.
      bidID: (bidID) => ({ lotID: related(Bid, { bidID }) }),
      capital: () => ({ lotID: raw((lot) => `${lot} = upper(${lot})`) }),
    });
  }

  @Get('test_lots/:lotID')
  get(@Param('lotID') lotID: string, @Query() query: GetLotDto): ObjectLookup {
    return objectOf(this.lots, lotID, query);
  }

  @Get('test_bids')
  listBids(@Query() query: ListBidsDto): Listing {
    return listOf(this.bids, query);
  }

  @Get('test_sales')
  listSales(@Query() query: ListSalesDto): Listing {
    return listOf(this.sales, query);
  }
}

@Module({
  imports: [ListModule.forFeature(Bid), ListModule.forFeature(Lot), ListModule.forFeature(Sale)],
  controllers: [LotsController],
})
class LotsModule {}

let service: Service;

beforeAll(async () => {
  service = await startService({}, LotsModule);
  const { up } = await migrationChanges(service.dataSource);
  for (const statement of [...up, OBJECTS]) await service.dataSource.query(statement);
});
afterAll(() => service.stop());

const LINES = {
  rivals: 'the field rivals of test_bids reads "test_bids" by SQL, past its scope',
  bidder: 'the field bidder of test_lots reads "test_bids" by SQL, past its scope',
  viewed: 'the field viewed of test_lots reads "test_bids" by SQL, past its scope',
  lotID: 'a filter by lotID of test_lots reads "test_bids" by SQL, past its scope',
  deletions: 'a filter by lotID of test_lots reads "test_bids_deletions" by SQL, past its scope',
  counted: 'a filter by lotID of test_lots reads "test_bids_tally" by SQL, past its scope',
  sorted:
    'a filter by lotID of test_lots reads "test_bids_tally_by_lotID_deltas" by SQL, past its scope',
  filter: 'a filter by bidder of test_lots reads "test_bids" by SQL, past its scope',
};

describe('SQL of a list that reads a resource with a scope', () => {
  it.each([
    ['/test_lots', LINES.bidder],
    ['/test_lots?fields=lotID,viewed', LINES.viewed],
    ['/test_lots/one', LINES.bidder],
    ['/test_lots/one?fields=bidder', LINES.bidder],
    ['/test_bids', LINES.rivals],
    ['/test_sales?include=lot', LINES.bidder],
    ['/test_sales?fields=lot.viewed', LINES.viewed],
    ['/test_lots?fields=lotID&bidFor=true', LINES.lotID],
    ['/test_lots?fields=lotID&withdrawn=true', LINES.deletions],
    ['/test_lots?fields=lotID&counted=true', LINES.counted],
    ['/test_lots?fields=lotID&sorted=true', LINES.sorted],
    ['/test_lots?fields=lotID&known=true', LINES.lotID],
    ['/test_lots?fields=lotID&late=true', LINES.lotID],
    ['/test_lots?fields=lotID&bidder=another', LINES.filter],
    ['/test_lots?fields=lotID&capital=true&bidFor=true&limit=0', LINES.lotID],
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
    ['/test_lots?fields=bids,label', [{ bids: 2, label: 'ONE' }]],
    ['/test_lots?fields=lotID&capital=true', []],
    ['/test_lots?fields=lotID&bidID=theirs', []],
    ['/test_bids?fields=bidID', [{ bidID: 'mine' }]],
    ['/test_sales?fields=lot.label', []],
    ['/test_lots/one?fields=bids', [{ bids: 2 }]],
  ])('is not what %s reads', async (path, objects) => {
    const { body } = await service.get(path).expect(200);
    expect(body.response_data.objects).toEqual(objects);
  });

  it('is named by verify, and at the start', async () => {
    const lines = [
      LINES.rivals,
      LINES.bidder,
      LINES.viewed,
      'the filter bidFor of test_lots reads "test_bids" by SQL, past its scope',
      'the filter withdrawn of test_lots reads "test_bids_deletions" by SQL, past its scope',
      'the filter counted of test_lots reads "test_bids_tally" by SQL, past its scope',
      'the filter sorted of test_lots reads "test_bids_tally_by_lotID_deltas" by SQL, past its scope',
      'the filter known of test_lots reads "test_bids" by SQL, past its scope',
      'the filter late of test_lots reads "test_bids" by SQL, past its scope',
      'the filter bidder of test_lots reads "test_bids" by SQL, past its scope',
    ];
    await expect(checkLists(service.application)).rejects.toThrow(
      new CommandError(lines.join('; ')),
    );
    expect(await findViolations(service.application)).toEqual(expect.arrayContaining(lines));
  });

  it('is found in a view that is replaced', async () => {
    const path = '/test_lots?fields=lotID,viewed';
    const create = (query: string) =>
      service.dataSource.query(`CREATE OR REPLACE VIEW test_bidders AS ${query}`);
    const columns = '"bidID", "ownerID", "lotID"';
    await create(`SELECT ${columns} FROM (VALUES ('a'::varchar(100) COLLATE "C",
      'b'::varchar(100) COLLATE "C", 'one'::varchar(100) COLLATE "C")) v(${columns})`);
    for (let times = 0; times < 2; times += 1) await service.get(path).expect(200, /"viewed":"b"/);
    await create(`SELECT ${columns} FROM test_bids`);
    const lines = logLines('error');
    await service.get(path).expect(500);
    expect(lines[0]).toContain(LINES.viewed);
    jest.restoreAllMocks();
  });
});
