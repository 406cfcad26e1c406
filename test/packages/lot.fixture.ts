import { Controller, Get, Module, Param, Query } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Column, CreateDateColumn, PrimaryColumn, Repository, UpdateDateColumn } from 'typeorm';
import {
  IdentifiersParam,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  type ObjectLookup,
  objectOf,
  ObjectQueryDto,
  QueryOf,
  TextParam,
} from '../../src/list/index.js';
import { identifierColumn, Resource, timeColumn } from '../../src/resource/index.js';

/** A resource that somebody has added to the service. */
@Resource('test_lots', { counted: ['colour'] })
export class Lot {
  @PrimaryColumn(identifierColumn)
  lotID!: string;

  @Column({ type: 'varchar', length: 20, nullable: true })
  colour!: string | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

/** The SQL that creates its table. */
export const LOTS = `
  CREATE TABLE test_lots (
    "lotID" varchar(100) COLLATE "C" PRIMARY KEY,
    colour varchar(20),
    "createdAt" timestamptz(3) NOT NULL DEFAULT now(),
    "updatedAt" timestamptz(3) NOT NULL DEFAULT now()
  );
  SELECT install_tally('test_lots', 'lotID', '{colour}');
  SELECT install_deletions('test_lots', 'lotID')`;

@QueryOf(Lot)
export class GetLotDto extends ObjectQueryDto {}

@QueryOf(Lot, { sort: ['lotID'] })
export class ListLotsDto extends ListQueryDto {
  @IdentifiersParam('The lots with these identifiers.') lotID?: string[];
  @TextParam('The lots of this colour.', 20) colour?: string;
}

@Controller('test_lots')
export class LotsController {
  constructor(@InjectRepository(Lot) private readonly lots: Repository<Lot>) {}

  @Get()
  list(@Query() query: ListLotsDto): Listing {
    return listOf(this.lots, query);
  }

  @Get(':lotID')
  get(@Param('lotID') lotID: string, @Query() query: GetLotDto): ObjectLookup {
    return objectOf(this.lots, lotID, query);
  }
}

@Module({
  imports: [ListModule.forFeature(Lot)],
  controllers: [LotsController],
})
export class LotsModule {}
