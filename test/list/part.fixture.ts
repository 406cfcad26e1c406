import {
  Column,
  type FindOperator,
  type FindOptionsWhere,
  Not,
  Or,
  PrimaryColumn,
  Raw,
} from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import {
  BooleanParam,
  identifierColumn,
  IntegerParam,
  ListQueryDto,
  QueryOf,
  Resource,
  SignedIntegerParam,
  TextParam,
  TextsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

/** A resource for tests of lists that read other tables too. */
@Resource('test_parts')
export class Part {
  @PrimaryColumn(identifierColumn)
  partID!: string;

  @Column({ ...identifierColumn, nullable: true })
  makerID!: string | null;

  @Column({ type: 'integer' })
  weight!: number;
}

/** The SQL that creates its table and what its filters read. */
export const PARTS = `
  CREATE TABLE test_makers ("makerID" varchar(100) COLLATE "C" PRIMARY KEY, name text NOT NULL);
  CREATE VIEW test_maker_names AS SELECT "makerID", name FROM test_makers;
  CREATE FUNCTION test_maker_name(text) RETURNS text STABLE LANGUAGE plpgsql
    AS $$ BEGIN RETURN (SELECT name FROM test_makers WHERE "makerID" = $1); END $$;
  CREATE FUNCTION test_double(integer) RETURNS integer IMMUTABLE LANGUAGE sql AS 'SELECT 2 * $1';
  CREATE TABLE test_parts (
    "partID" varchar(100) COLLATE "C" PRIMARY KEY,
    "makerID" varchar(100) COLLATE "C",
    weight integer NOT NULL
  );
  SELECT install_tally('test_parts', 'partID', '{}');
  SELECT install_deletions('test_parts', 'partID');
  INSERT INTO test_makers VALUES ('m1', 'Acme'), ('m2', 'Emca');
  INSERT INTO test_parts VALUES ('a', 'm1', 1), ('b', 'm2', 2), ('c', NULL, 3)`;

@QueryOf(Part, {
  sort: ['partID', 'weight'],
  reads: ['test_makers', 'test_maker_names', 'test_maker_name', 'now'],
})
export class ListPartsDto extends ListQueryDto {
  @SignedIntegerParam('The parts that weigh at least this.') weightMin?: number;
  @TextParam('The parts of makers of this name.') makerName?: string;
  @TextParam('The parts of other makers.') makerNameNot?: string;
  @TextParam('The same by a view.') makerByView?: string;
  @TextParam('The same by a function.') makerByFunction?: string;
  @TextParam('The same, or all if it is "any".') makerOrAny?: string;
  @BooleanParam('All parts, at any time.') now?: boolean;
  @TextParam('The parts of this weight as text.') weightText?: string;
  @TextsParam('The parts of these weights as text.') weightTexts?: string[];
  @TextParam('The parts of this weight or maker.') weightOrMaker?: string;
}

/** Its SQL reads its own table alone. */
@QueryOf(Part, { sort: ['partID'], reads: [] })
class ListOwnPartsDto extends ListQueryDto {
  @IntegerParam('The parts that weigh at least half of this.') halfWeightMin?: number;
  @TextParam('The parts as heavy as the one with this identifier.') asHeavyAs?: string;
}

/** Says what is not the case. */
@QueryOf(Part, { sort: ['partID'], reads: [Brand] })
class ListWrongPartsDto extends ListQueryDto {
  @TextParam('The parts of makers of this name.') makerName?: string;
  @TextParam('The same by a view.') makerByView?: string;
  @TextParam('The same by a function.') makerByFunction?: string;
  @BooleanParam('All parts, at any time.') now?: boolean;
}

/** Says nothing. */
@QueryOf(Part, { sort: ['partID'] })
class ListSilentPartsDto extends ListQueryDto {
  @IntegerParam('The parts that weigh at least half of this.') halfWeightMin?: number;
  @TextParam('The parts with this identifier.') partID?: string;
}

export const PartsModule = resourceModule(
  [Part],
  controllerOf(
    Part,
    { list: ListPartsDto },
    {
      makerName: (name) => ({ makerID: ofMaker(name) }),
      makerNameNot: (name) => ({ makerID: Not(ofMaker(name)) }),
      makerByView: (name) => ({ makerID: ofMaker(name, 'test_maker_names') }),
      makerByFunction: (name) => ({
        makerID: raw((maker) => `"test_maker_name" (${maker}) = :name`, { name }),
      }),
      makerOrAny: (name) => ({
        makerID: raw(
          (maker) =>
            `CASE WHEN :name = 'any' THEN true ELSE ${maker} IN (${named('test_makers')}) END`,
          { name },
        ),
      }),
      now: () => ({ weight: raw(() => `now() > '-infinity'`) }),
      weightText: (text) => ({
        weight: raw((weight) => `${weight}::text = :text AND ':text' <> ''`, { text }),
      }),
      weightTexts: (text) => ({
        weight: Or(
          raw((weight) => `${weight}::text IN (:...text)`, { text }),
          raw(() => 'false /* :text */'),
        ),
      }),
      weightOrMaker: (text) =>
        [
          { weight: raw((weight) => `${weight}::text = :text`, { text }) },
          { makerID: raw((maker) => `${maker} = :text`, { text: text.toLowerCase() }) },
        ] as FindOptionsWhere<Part>,
    },
  ),
  controllerOf(
    Part,
    { path: 'own_parts', list: ListOwnPartsDto },
    {
      halfWeightMin: (minimum) => ({ weight: halfOf(minimum) }),
      asHeavyAs: (partID) => ({
        weight: raw(
          (weight) => `${weight} = (SELECT weight FROM test_parts WHERE "partID" = :partID)`,
          { partID },
        ),
      }),
    },
  ),
  controllerOf(
    Part,
    { path: 'wrong_parts', list: ListWrongPartsDto },
    {
      makerName: (name) => ({ makerID: ofMaker(name) }),
      makerByView: (name) => ({ makerID: ofMaker(name, 'test_maker_names') }),
      makerByFunction: (name) => ({
        makerID: raw((maker) => `"test_maker_name" (${maker}) = :name`, { name }),
      }),
      now: () => ({ weight: raw(() => `now() > '-infinity'`) }),
    },
  ),
  controllerOf(
    Part,
    { path: 'silent_parts', list: ListSilentPartsDto },
    {
      halfWeightMin: (minimum) => ({ weight: halfOf(minimum) }),
    },
  ),
);

function raw<T>(sql: (column: string) => string, values: object = {}): FindOperator<T> {
  return Raw(sql, values) as FindOperator<T>;
}

function halfOf(minimum: number): FindOperator<number> {
  return raw((weight) => `test_double(${weight}) >= :minimum`, { minimum });
}

function ofMaker(name: string, table = 'test_makers'): FindOperator<string> {
  return raw((maker) => `${maker} IN (${named(table)})`, { name });
}

function named(table: string): string {
  return `SELECT "makerID" FROM ${table} WHERE name = :name`;
}
