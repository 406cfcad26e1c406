import { Check, Column, CreateDateColumn, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import {
  BigintsParam,
  BooleanParam,
  containsWords,
  DateParam,
  identifierColumn,
  IntegersParam,
  ListQueryDto,
  Meaning,
  NumberParam,
  ObjectQueryDto,
  QueryOf,
  Resource,
  TextsParam,
  timeColumn,
  UuidsParam,
  WordsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

/** A resource with a column of each type that the resources of the project do not have. */
@Resource('test_samples', {
  counted: ['owner', 'serial'],
  filtered: ['day', 'weight', 'owner', 'serial'],
  sorted: ['day', 'weight', 'serial'],
  searched: ['words'],
})
@Check(`"weight" > '-Infinity' AND "weight" < 'Infinity'`)
export class Sample {
  @Meaning('Identifies the sample.')
  @PrimaryColumn(identifierColumn)
  sampleID!: string;

  @Meaning('The day of the sample.')
  @Column({ type: 'date', nullable: true })
  day!: string | null;

  @Meaning('The weight of the sample.')
  @Column({ type: 'double precision', nullable: true })
  weight!: number | null;

  @Meaning('The note of the sample.')
  @Column({ type: 'text' })
  note!: string;

  @Meaning('The tags of the sample.')
  @Index({ type: 'gin' })
  @Column({ type: 'text', array: true })
  tags!: string[];

  @Meaning('The sizes of the sample.')
  @Index({ type: 'gin' })
  @Column({ type: 'integer', array: true, nullable: true })
  sizes!: number[] | null;

  @Meaning('The owner of the sample.')
  @Column({ type: 'uuid' })
  owner!: string;

  @Meaning('The serial number of the sample.')
  @Column({ type: 'bigint', nullable: true })
  serial!: string | null;

  @Meaning('Whether the sample is odd.')
  @Column({ type: 'boolean', nullable: true })
  odd!: boolean | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;

  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
}

@QueryOf(Sample)
class GetSampleDto extends ObjectQueryDto {}

@QueryOf(Sample, { sort: ['sampleID', 'day', 'weight', 'serial'] })
class ListSamplesDto extends ListQueryDto {
  @DateParam('The samples of this day.') day?: string;
  @DateParam('The samples of this day or later.') dayMin?: string;
  @DateParam('The samples of this day or earlier.') dayMax?: string;
  @BooleanParam('The samples with a day.') dayExists?: boolean;
  @NumberParam('The samples that weigh at least this.') weightMin?: number;
  @NumberParam('The samples that weigh at most this.') weightMax?: number;
  @TextsParam('The samples with any of these tags.') tags?: string[];
  @IntegersParam('The samples of any of these sizes.') sizes?: number[];
  @UuidsParam('The samples of these owners.') owner?: string[];
  @UuidsParam('The samples of other owners.') ownerNot?: string[];
  @BigintsParam('The samples with these serial numbers.') serial?: string[];
  @WordsParam('The samples with all these words in their notes.') q?: string;
}

export const SamplesModule = resourceModule(
  [Sample],
  controllerOf(
    Sample,
    { list: ListSamplesDto, object: GetSampleDto },
    { q: (words) => ({ words: containsWords(words, ['serial', 'owner']) }) },
  ),
);
