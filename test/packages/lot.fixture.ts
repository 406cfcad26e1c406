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
