import {
  Column,
  CreateDateColumn,
  Equal,
  type FindOperator,
  ForeignKey,
  In,
  Index,
  MoreThan,
  Not,
  PrimaryColumn,
  Raw,
  UpdateDateColumn,
} from 'typeorm';
import {
  containsWords,
  EnumsParam,
  identifierColumn,
  IdentifiersParam,
  ListQueryDto,
  nameColumn,
  ObjectQueryDto,
  QueryOf,
  related,
  Resource,
  type ScopeClient,
  SignedDecimalParam,
  TextsParam,
  timeColumn,
  within,
  WordsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

export enum OrderState {
  OPEN = 'OPEN',
  SENT = 'SENT',
  PUBLIC = 'PUBLIC',
}

/** Those who see more than their own, and clients whose scope is a mistake. */
function ordersOf({ clientID }: ScopeClient): object | object[] {
  switch (clientID) {
    case 'auditor':
      return {};
    case 'reader':
      return [{ ownerID: clientID }, { state: OrderState.PUBLIC }];
    case 'branch':
      return { folderID: within(TestFolder, ['fa']) };
    case 'member':
      return { ownerID: ofMember(clientID) };
    case 'undefined':
      return { ownerID: undefined };
    case 'null':
      return { ownerID: null };
    case 'none':
      return [];
    case 'promise':
      return Promise.resolve({ ownerID: clientID });
    case 'map':
      return [new Map([['ownerID', clientID]])];
    case 'nothing':
      return [[]];
    case 'more-than-undefined':
      return { state: MoreThan(undefined) };
    case 'not-null':
      return { ownerID: Not(Equal(null)) };
    case 'in-undefined':
      return [{ ownerID: clientID }, { ownerID: In([clientID, undefined]) }];
    case 'symbol':
      return { [Symbol('ownerID')]: clientID };
    case 'other-column':
      return { total: '1' };
    default:
      return { ownerID: clientID };
  }
}

/** The folders of one's own, those below one of another client, or those of the owners that a table names. */
function foldersOf({ clientID }: ScopeClient): object {
  switch (clientID) {
    case 'branch':
      return { folderID: within(TestFolder, ['fa']) };
    case 'member':
      return { ownerID: ofMember(clientID) };
    default:
      return { ownerID: clientID };
  }
}

function ofMember(member: string): FindOperator<string> {
  return Raw(
    (owner) => `${owner} IN (SELECT "ownerID" FROM test_members WHERE "clientID" = :member)`,
    { member },
  ) as FindOperator<string>;
}

/** The tables that its resources do not declare. */
export const MEMBERS = `CREATE TABLE test_members (
  "clientID" text NOT NULL, "ownerID" varchar(100) COLLATE "C" NOT NULL
)`;

/** A tree, of which each client sees a part. */
@Resource('test_folders', {
  filtered: ['parentID', 'name'],
  sorted: ['name'],
  scope: { columns: ['ownerID', 'folderID'], where: foldersOf },
})
export class TestFolder {
  @PrimaryColumn(identifierColumn)
  folderID!: string;

  @ForeignKey(() => TestFolder)
  @Column({ ...identifierColumn, nullable: true })
  parentID!: string | null;

  @Column({ ...identifierColumn, nullable: true, select: false })
  ownerID!: string | null;

  @Column(nameColumn)
  name!: string;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@Resource('test_orders', {
  counted: ['ownerID', 'state', 'buyer', ['ownerID', 'state'], ['buyer', 'ownerID']],
  filtered: ['ownerID', 'state', 'buyer', 'folderID', 'total'],
  sorted: ['total'],
  searched: ['words'],
  scope: { columns: ['ownerID', 'state', 'folderID'], where: ordersOf },
})
export class TestOrder {
  @PrimaryColumn(identifierColumn)
  orderID!: string;

  @Column(identifierColumn)
  ownerID!: string;

  @Column({ type: 'enum', enum: OrderState, enumName: 'test_order_state' })
  state!: OrderState;

  @Column({ type: 'varchar', length: 40, nullable: true })
  buyer!: string | null;

  @ForeignKey(() => TestFolder)
  @Column({ ...identifierColumn, nullable: true })
  folderID!: string | null;

  @Column({ type: 'numeric', nullable: true })
  total!: string | null;

  @Column({ type: 'varchar', length: 500, nullable: true })
  note!: string | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;

  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false, nullable: true })
  words!: string | null;
}

/** Without a scope, but each refers to an object of a resource that has one. */
@Resource('test_lines', { counted: ['folderID'], filtered: ['folderID', 'orderID'] })
export class TestLine {
  @PrimaryColumn(identifierColumn)
  lineID!: string;

  @ForeignKey(() => TestOrder)
  @Column({ ...identifierColumn, nullable: true })
  orderID!: string | null;

  @ForeignKey(() => TestFolder)
  @Column({ ...identifierColumn, nullable: true })
  folderID!: string | null;
}

@QueryOf(TestFolder, { sort: ['folderID', 'name'], include: ['parentID'] })
export class ListFoldersDto extends ListQueryDto {
  @IdentifiersParam('These folders and all below them.') within?: string[];
}

@QueryOf(TestOrder, { include: ['folderID'] })
export class GetOrderDto extends ObjectQueryDto {}

@QueryOf(TestOrder, { sort: ['orderID', 'total'], include: ['folderID'], reads: [] })
export class ListOrdersDto extends ListQueryDto {
  @IdentifiersParam('The orders with these identifiers.') orderID?: string[];
  @IdentifiersParam('The orders of these owners.') ownerID?: string[];
  @EnumsParam('The orders in these states.', OrderState) state?: OrderState[];
  @TextsParam('The orders of these buyers.') buyer?: string[];
  @SignedDecimalParam('The orders of at least this total.') totalMin?: string;
  @IdentifiersParam('The orders in these folders and all below them.') within?: string[];
  @WordsParam('The orders with these words in their note.') q?: string;
  @TextsParam('The orders of one buyer, or of another.') buyerOr?: string[];
}

@QueryOf(TestLine, { sort: ['lineID'], include: ['orderID', 'folderID'] })
export class ListLinesDto extends ListQueryDto {
  @IdentifiersParam('The lines in these folders and all below them.') within?: string[];
  @EnumsParam('The lines of orders in these states.', OrderState) orderState?: OrderState[];
  @TextsParam('The lines in folders of these names, or of orders of these buyers.')
  either?: string[];
}

export const OrdersModule = resourceModule(
  [TestFolder, TestOrder, TestLine],
  controllerOf(
    TestFolder,
    { list: ListFoldersDto },
    { within: (folders) => ({ folderID: within(TestFolder, folders) }) },
  ),
  controllerOf(
    TestOrder,
    { list: ListOrdersDto, object: GetOrderDto },
    {
      within: (folders) => ({ folderID: within(TestFolder, folders) }),
      q: (words) => ({ words: containsWords(words, ['orderID']) }),
      // SQL that an author of a resource forgot to put into brackets.
      buyerOr: ([one, other]) => ({
        buyer: Raw((buyer) => `${buyer} = :one OR ${buyer} = :other`, { one, other }),
      }),
    },
  ),
  controllerOf(
    TestLine,
    { list: ListLinesDto },
    {
      within: (folders) => ({ folderID: within(TestFolder, folders) }),
      orderState: (state) => ({ orderID: related(TestOrder, { state }) }),
      either: (texts) => [
        { folderID: related(TestFolder, { name: texts }) },
        { orderID: related(TestOrder, { buyer: texts }) },
      ],
    },
  ),
);
