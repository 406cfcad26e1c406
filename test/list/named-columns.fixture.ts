import {
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { snakeCase } from 'typeorm/util/StringUtils.js';
import { Brand } from '../../src/brands/brand.entity.js';
import {
  BooleanParam,
  containsWords,
  DecimalParam,
  EnumsParam,
  identifierColumn,
  IdentifiersParam,
  ListQueryDto,
  Meaning,
  nameColumn,
  ObjectQueryDto,
  QueryOf,
  related,
  Resource,
  TextsParam,
  timeColumn,
  within,
  WordsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

/** The names of columns as a naming strategy gives them: here in snake case for the properties of plants alone. */
export function snakeCased(property: string, name: string | undefined): string {
  if (name) return name;
  return property.startsWith('plant') ? snakeCase(property) : property;
}

enum Habit {
  Tree = 'TREE',
  Herb = 'HERB',
}

/** A resource of which no column is named like its property: by the strategy, or by `name`. */
@Resource('test_plants', {
  counted: ['plantHabit', 'soldBy', 'plantParentID', ['soldBy', 'plantHabit']],
  filtered: ['plantHabit', 'soldBy', 'plantParentID', 'plantPrice'],
  sorted: ['plantName', 'plantPrice'],
  searched: ['plantWords'],
  intervals: [{ of: 'plantPrice' }],
  scope: { columns: ['plantOwner'], where: () => ({ plantOwner: 'all' }) },
})
export class Plant {
  @Meaning('Identifies the plant.', 'p1')
  @PrimaryColumn(identifierColumn)
  plantID!: string;

  @Meaning('The habit of the plant.')
  @Column({ type: 'enum', enum: Habit })
  plantHabit!: Habit;

  @Meaning('The name of the plant.')
  @Column(nameColumn)
  plantName!: string;

  @Meaning('The plant that it is a variety of.')
  @ForeignKey(() => Plant)
  @Column({ ...identifierColumn, nullable: true })
  plantParentID!: string | null;

  @Meaning('The brand that sells it.')
  @ForeignKey(() => Brand)
  @Column({ ...identifierColumn, name: 'brand_id', nullable: true })
  soldBy!: string | null;

  @Meaning('The price of the plant.')
  @Column({ type: 'numeric', nullable: true })
  plantPrice!: string | null;

  @Meaning('Who sees the plant.')
  @Column({ ...identifierColumn, select: false, default: 'all' })
  plantOwner!: string;

  @CreateDateColumn({ ...timeColumn, name: 'created_at' })
  createdAt!: Date;

  @UpdateDateColumn({ ...timeColumn, name: 'updated_at' })
  updatedAt!: Date;

  @Index({ type: 'gin' })
  @Column({
    name: 'words',
    type: 'tsvector',
    select: false,
    insert: false,
    update: false,
    nullable: true,
  })
  plantWords!: string | null;
}

@QueryOf(Plant, { include: ['plantParentID'] })
class GetPlantDto extends ObjectQueryDto {}

@QueryOf(Plant, { sort: ['plantID', 'plantName', 'plantPrice'], include: ['plantParentID'] })
class ListPlantsDto extends ListQueryDto {
  @IdentifiersParam('The plants with these identifiers.') plantID?: string[];
  @EnumsParam('The plants of these habits.', Habit) plantHabit?: Habit[];
  @EnumsParam('The plants of other habits.', Habit) plantHabitNot?: Habit[];
  @IdentifiersParam('The plants of these brands.') soldBy?: string[];
  @BooleanParam('The plants of a brand, or of none.') soldByExists?: boolean;
  @IdentifiersParam('The varieties of these plants.') plantParentID?: string[];
  @IdentifiersParam('These plants, and their varieties.') within?: string[];
  @TextsParam('The plants of the brands with these names.') brandName?: string[];
  @TextsParam('The varieties of the plants with these names.') parentName?: string[];
  @DecimalParam('The plants at this price or more.') plantPriceMin?: string;
  @DecimalParam('The plants at this price or less.') plantPriceMax?: string;
  @WordsParam('The plants with these words, or with this identifier.') q?: string;
}

export const PlantsModule = resourceModule(
  [Plant],
  controllerOf(
    Plant,
    { list: ListPlantsDto, object: GetPlantDto },
    {
      within: (plants) => ({ plantID: within(Plant, plants) }),
      brandName: (name) => ({ soldBy: related(Brand, { name }) }),
      parentName: (plantName) => ({ plantParentID: related(Plant, { plantName }) }),
      q: (words) => ({ plantWords: containsWords(words, ['plantID']) }),
    },
  ),
);
