import { Type } from 'class-transformer';
import {
  Allow,
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsEnum,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Matches,
  Max,
  MaxLength,
  Min,
  ValidateNested,
} from 'class-validator';
import {
  Column,
  CreateDateColumn,
  MoreThanOrEqual,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import {
  BooleanParam,
  identifierColumn,
  ListQueryDto,
  Meaning,
  ObjectQueryDto,
  QueryOf,
  Resource,
  TextParam,
  TextsParam,
  timeColumn,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

export enum Access {
  STEPS = 'STEPS',
  LEVEL = 'LEVEL',
}

class Day {
  @Meaning('When it opens.', '08:00')
  @IsOptional()
  @IsString()
  @Matches(/^[0-2][0-9]:[0-5][0-9]$/)
  open?: string | null;

  @IsString()
  @MaxLength(8)
  close!: string;
}

class Hours {
  @ValidateNested()
  @Type(() => Day)
  monday!: Day;

  @IsOptional()
  @ValidateNested()
  @Type(() => Day)
  'first-sunday'?: Day | null;
}

class Place {
  @IsNumber()
  @Min(-90)
  @Max(90)
  latitude!: number;

  @IsOptional()
  @IsInt()
  seats?: number | null;

  @IsOptional()
  @IsBoolean()
  isOpen?: boolean | null;

  @IsOptional()
  @IsEnum(Access)
  access?: Access | null;

  @IsOptional()
  @IsArray()
  @IsString({ each: true })
  @MaxLength(10, { each: true })
  @ArrayMaxSize(3)
  tags?: string[] | null;

  @Allow()
  more?: unknown;
}

class Contact {
  @IsString()
  name!: string;
}

/** A resource with columns of objects whose shape is declared. */
@Resource('test_stores', {
  counted: ['opens'],
  filtered: ['name', 'opens'],
  sorted: ['name', 'opens'],
  derived: { opens: ['hours'] },
})
export class Store {
  @Meaning('Identifies the store.')
  @PrimaryColumn(identifierColumn)
  storeID!: string;

  @Meaning('The name of the store.')
  @Column({ type: 'varchar', length: 100, collation: 'C' })
  name!: string;

  @Meaning('When the store is open.')
  @Column({ type: 'jsonb', nullable: true })
  @Type(() => Hours)
  hours!: Hours | null;

  /** A value within `hours`, to filter, sort and count by. */
  @Column({
    ...{ type: 'varchar', length: 500, collation: 'C', select: false, nullable: true },
    ...{ generatedType: 'STORED', asExpression: `hours #>> '{monday,open}'` },
  })
  opens!: string | null;

  @Meaning('Where the store is.')
  @Column({ type: 'jsonb' })
  @Type(() => Place)
  place!: Place;

  @Meaning('Whom to ask.', '[{"name":"Ada"}]')
  @Column({ type: 'jsonb', default: [] })
  @Type(() => Contact)
  contacts!: Contact[];

  @Meaning('Anything else.')
  @Column({ type: 'jsonb', nullable: true })
  extra!: object | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(Store)
class GetStoreDto extends ObjectQueryDto {}

@QueryOf(Store, { sort: ['storeID', 'name', 'opens'] })
class ListStoresDto extends ListQueryDto {
  @TextParam('The stores of this name.') name?: string;
  @TextsParam('The stores that open on Mondays at one of these times.') opens?: string[];
  @TextParam('The stores that open on Mondays at this time or later.') opensMin?: string;
  @BooleanParam('The stores that open on Mondays, or that do not.') opensExists?: boolean;
}

export const StoresModule = resourceModule(
  [Store],
  controllerOf(
    Store,
    { list: ListStoresDto, object: GetStoreDto },
    { opensMin: (time) => ({ opens: MoreThanOrEqual(time) }) },
  ),
);
