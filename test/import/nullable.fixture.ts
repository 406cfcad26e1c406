import { Module } from '@nestjs/common';
import { Column, CreateDateColumn, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import {
  identifierColumn,
  ListModule,
  Meaning,
  nameColumn,
  Resource,
  timeColumn,
} from '@catalogue/server';

enum Grade {
  GOOD = 'GOOD',
  BAD = 'BAD',
}

/** A resource with a column of each type that may be null, and a text that may not. */
@Resource('test_blanks', {})
export class Blank {
  @Meaning('Identifies the object.')
  @PrimaryColumn(identifierColumn)
  blankID!: string;

  @Meaning('A text that is not null.')
  @Column({ type: 'text' })
  given!: string;

  @Meaning('A text.')
  @Column({ type: 'text', nullable: true })
  text!: string | null;

  @Meaning('A text of some length.')
  @Column({ type: 'varchar', length: 100, nullable: true })
  short!: string | null;

  @Meaning('A text that is indexed, and never empty.')
  @Column({ ...nameColumn, nullable: true })
  name!: string | null;

  @Meaning('An integer.')
  @Column({ type: 'integer', nullable: true })
  integer!: number | null;

  @Meaning('A long integer.')
  @Column({ type: 'bigint', nullable: true })
  bigint!: string | null;

  @Meaning('A UUID.')
  @Column({ type: 'uuid', nullable: true })
  uuid!: string | null;

  @Meaning('A decimal.')
  @Column({ type: 'numeric', nullable: true })
  decimal!: string | null;

  @Meaning('A number.')
  @Column({ type: 'double precision', nullable: true })
  double!: number | null;

  @Meaning('A boolean.')
  @Column({ type: 'boolean', nullable: true })
  boolean!: boolean | null;

  @Meaning('A day.')
  @Column({ type: 'date', nullable: true })
  day!: string | null;

  @Meaning('A time.')
  @Column({ ...timeColumn, nullable: true })
  time!: Date | null;

  @Meaning('One of few values.')
  @Column({ type: 'enum', enum: Grade, enumName: 'test_grade', nullable: true })
  grade!: Grade | null;

  @Meaning('Texts.')
  @Column({ type: 'text', array: true, nullable: true })
  texts!: string[] | null;

  @Meaning('Integers.')
  @Column({ type: 'integer', array: true, nullable: true })
  integers!: number[] | null;

  @Meaning('Anything in JSON.')
  @Column({ type: 'jsonb', nullable: true })
  json!: object | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@Module({ imports: [ListModule.forFeature(Blank)] })
export class BlanksModule {}
