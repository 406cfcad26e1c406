import { Column, CreateDateColumn, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import {
  identifierColumn,
  IdentifiersParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  Resource,
  TextParam,
  timeColumn,
} from '@catalogue/server';
import { controllerOf, resourceModule } from '../list/resource-module.js';

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
  @TextParam('The lots of this colour.', { maximum: 20 }) colour?: string;
}

export const LotsModule = resourceModule(
  [Lot],
  controllerOf(Lot, { list: ListLotsDto, object: GetLotDto }),
);
