import { Module, type Type } from '@nestjs/common';
import {
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import {
  BigintsParam,
  BooleanParam,
  containsWords,
  EnumsParam,
  IntegersParam,
  ListQueryDto,
  Meaning,
  nameColumn,
  ObjectQueryDto,
  QueryOf,
  Resource,
  timeColumn,
  UuidsParam,
  within,
  WordsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

/** The types of identifiers beside texts. */
export type KeyType = 'integer' | 'bigint' | 'uuid';

enum Kind {
  Inner = 'INNER',
  Leaf = 'LEAF',
}

const PARAMETERS = { integer: IntegersParam, bigint: BigintsParam, uuid: UuidsParam };

/** The entities of the resources. */
export const NODES = new Map<KeyType, Type>();

function keyedModule(type: KeyType): Type {
  const SeveralParam = PARAMETERS[type];
  const resource = `test_${type}_nodes`;

  @Resource(resource, {
    counted: ['kind', 'parentID', ['parentID', 'kind']],
    filtered: ['kind', 'parentID'],
    sorted: ['name', 'parentID'],
    searched: ['words'],
  })
  class Node {
    @Meaning('Identifies the node.')
    @PrimaryColumn({ type })
    nodeID!: string;

    @Meaning('The kind of the node.')
    @Column({ type: 'enum', enum: Kind })
    kind!: Kind;

    @Meaning('The name of the node.')
    @Column(nameColumn)
    name!: string;

    @Meaning('The parent of the node.')
    @ForeignKey(() => Node)
    @Column({ type, nullable: true })
    parentID!: string | null;

    @CreateDateColumn(timeColumn)
    createdAt!: Date;

    @UpdateDateColumn(timeColumn)
    updatedAt!: Date;

    @Index({ type: 'gin' })
    @Column({ type: 'tsvector', select: false, insert: false, update: false })
    words!: string;
  }

  @QueryOf(Node, { include: ['parentID'] })
  class GetNodeDto extends ObjectQueryDto {}

  @QueryOf(Node, { sort: ['nodeID', 'name', 'parentID'], include: ['parentID'] })
  class ListNodesDto extends ListQueryDto {
    @SeveralParam('The nodes with these identifiers.') nodeID?: string[];
    @SeveralParam('The nodes with these parents.') parentID?: string[];
    @SeveralParam('The nodes with other parents.') parentIDNot?: string[];
    @BooleanParam('The nodes with a parent.') parentIDExists?: boolean;
    @EnumsParam('The nodes of these kinds.', Kind) kind?: Kind[];
    @SeveralParam('These nodes and all below them.') within?: string[];
    @WordsParam('The nodes with all these words, or with this identifier.') q?: string;
  }

  NODES.set(type, Node);
  Object.defineProperty(Node, 'name', { value: `Test${type}Node` });
  return resourceModule(
    [Node],
    controllerOf(
      Node,
      { list: ListNodesDto, object: GetNodeDto },
      {
        within: (roots) => ({ nodeID: within(Node, roots) }),
        q: (words) => ({ words: containsWords(words, ['nodeID']) }),
      },
    ),
  );
}

/** A module with a resource `test_<type>_nodes` for each type: a tree whose identifiers have it. */
@Module({ imports: (['integer', 'bigint', 'uuid'] as const).map(keyedModule) })
export class KeyedModule {}

/** What their migrations need besides. */
export const KEYED_WORDS = (['integer', 'bigint', 'uuid'] as const).map(
  (type) => `SELECT install_words('test_${type}_nodes', '{name}')`,
);
