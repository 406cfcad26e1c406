import { Controller, Get, Module, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import {
  Column,
  LessThan,
  MoreThanOrEqual,
  PrimaryColumn,
  Raw,
  Repository,
  VirtualColumn,
} from 'typeorm';
import {
  identifierColumn,
  IntegerParam,
  ListModule,
  listOf,
  ListQueryDto,
  nameColumn,
  ObjectQueryDto,
  QueryOf,
  Resource,
  TextParam,
} from '@catalogue/server';
import { Listing } from '#server/list/listing/listing.js';

/** A resource whose columns, filters and paths depend on a cost in every way that an author can write. */
@Resource('test_goods', {
  counted: ['grade'],
  filtered: ['cost', 'grade', 'margin', 'rank'],
  derived: { margin: ['cost'], tripled: ['name'], rank: [] },
})
export class Ware {
  @PrimaryColumn(identifierColumn)
  wareID!: string;

  @Column(nameColumn)
  name!: string;

  @Column({ type: 'integer' })
  cost!: number;

  /** Nothing says what it is derived from. */
  @Column({ ...identifierColumn, update: false })
  grade!: string;

  @Column({ type: 'integer', select: false })
  margin!: number;

  @Column({ type: 'integer', select: false })
  rank!: number;

  @VirtualColumn({ type: 'integer', query: (ware) => `SELECT 2 * ${ware}.cost` })
  doubled!: number;

  @VirtualColumn({ type: 'text', query: (ware) => `SELECT repeat(${ware}.name, 3)` })
  tripled!: string;
}

@QueryOf(Ware, { sort: ['wareID', 'name'], reads: [] })
class ListWaresDto extends ListQueryDto {
  @TextParam('Of this name.') name?: string;
  @IntegerParam('With this margin.') margin?: number;
  @IntegerParam('Of this rank.') rank?: number;
  @IntegerParam('By SQL.') costBySql?: number;
  @TextParam('Of this name; or, for one name, by cost.', { reads: ['name'] }) nameOrCost?: string;
  @IntegerParam('By SQL that says what it reads.', undefined, { reads: ['name'] })
  saidBySql?: number;
  @IntegerParam('Cheaper, which it does not say.', undefined, { reads: ['name'] }) below?: number;
}

@QueryOf(Ware)
class CheapDto extends ListQueryDto {}

@QueryOf(Ware)
class OwnDto extends ObjectQueryDto {}

@Controller()
class WaresController {
  constructor(@InjectRepository(Ware) private readonly wares: Repository<Ware>) {}

  @Get('test_goods')
  list(@Query() query: ListWaresDto): Listing {
    return listOf(this.wares, query, {
      costBySql: (cost) => ({ name: Raw((name) => `${name} <> '' AND cost >= :cost`, { cost }) }),
      saidBySql: (cost) => ({ name: Raw(() => 'cost >= :cost', { cost }) }),
      below: (cost) => ({ cost: LessThan(cost) }),
      nameOrCost: (text) => (text === 'cheap' ? { cost: LessThan(10) } : { name: text }),
      margin: (margin) => ({ margin: MoreThanOrEqual(margin) }),
    });
  }

  @Get('cheap_goods')
  cheap(@Query() query: CheapDto): Listing {
    const upper = { value: 10, inclusive: false };
    return new Listing(this.wares, query, [{ kind: 'interval', column: 'cost', upper }]);
  }

  @Get('own_wares')
  own(@Query() { fields }: OwnDto): Promise<object[]> {
    return this.wares.find({ take: fields?.length, select: { wareID: true, cost: true } });
  }

  @Get('sum_of_wares')
  async sum(): Promise<object> {
    return { cost: await this.wares.sum('cost') };
  }
}

@Module({ imports: [ListModule.forFeature(Ware)], controllers: [WaresController] })
export class WaresModule {}
