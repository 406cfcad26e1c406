import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import { Exclude, Expose, Transform, Type as TransformType } from 'class-transformer';
import { IsString } from 'class-validator';
import {
  AfterLoad,
  Column,
  DataSource,
  Entity,
  ForeignKey,
  ManyToOne,
  PrimaryColumn,
  TableInheritance,
  Tree,
  Unique,
  VersionColumn,
} from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import { Client } from '#server/clients/client.entity.js';
import { columnProblems, nameProblems } from '#server/declarations/declared-resources.js';
import { identifierColumn, nameColumn, Resource } from '@catalogue/server';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

async function withEntities(
  entities: Type[],
  problems: (dataSource: DataSource) => Iterable<string>,
): Promise<string[]> {
  const dataSource = new DataSource({ type: 'postgres', url: database.url, entities });
  await dataSource.initialize();
  try {
    return [...problems(dataSource)];
  } finally {
    await dataSource.destroy();
  }
}

/** An entity with a property more than its identifier. */
function withProperty(...decorators: PropertyDecorator[]): Type {
  class Ignoring {
    @PrimaryColumn(identifierColumn) id!: string;
    what!: unknown;
  }
  for (const decorate of decorators) decorate(Ignoring.prototype, 'what');
  Resource('test_ignoring')(Ignoring);
  return Ignoring;
}

const problemsOf = (entity: Type, ...others: Type[]): Promise<string[]> =>
  withEntities([entity, ...others], (all) => columnProblems(all.getMetadata(entity)));

const transformed = (decorator: string) =>
  `Ignoring.what has @${decorator}, which no list applies: hide a column with select: false, and compute another value with @VirtualColumn`;
const declared = (what: string, kind: string) =>
  `${what} is one of the ${kind} of TypeORM, which nothing here reads: declare each column by itself, refer to another resource with @ForeignKey, and derive by a trigger or a generated column`;

class Embedded {
  @Column(nameColumn) text!: string;
}

@Unique(['name'])
@Resource('test_referred_by_name')
class Named {
  @PrimaryColumn(identifierColumn) id!: string;
  @Column(nameColumn) name!: string;
}

describe('What no list applies is refused at the start, by name:', () => {
  it.each<[string, PropertyDecorator[], string]>([
    ['@Exclude', [Column(nameColumn), Exclude()], transformed('Exclude')],
    [
      '@Exclude of one direction',
      [Column(nameColumn), Exclude({ toPlainOnly: true })],
      transformed('Exclude'),
    ],
    [
      '@Exclude of the other',
      [Column(nameColumn), Exclude({ toClassOnly: true })],
      transformed('Exclude'),
    ],
    ['@Expose', [Column(nameColumn), Expose()], transformed('Expose')],
    [
      '@Expose with another name',
      [Column(nameColumn), Expose({ name: 'other' })],
      transformed('Expose'),
    ],
    ['@Transform', [Column(nameColumn), Transform(() => '***')], transformed('Transform')],
    [
      '@Transform of some values',
      [
        Column(nameColumn),
        Transform(({ value }) => (value === 'a' ? 'b' : (value as unknown)), { toPlainOnly: true }),
      ],
      transformed('Transform'),
    ],
    ['@ManyToOne', [ManyToOne(() => Brand)], declared('Ignoring.what', 'relations')],
    ['an embedded object', [Column(() => Embedded)], declared('Ignoring.what', 'embeddeds')],
    [
      'a transformer',
      [Column({ ...nameColumn, transformer: { to: String, from: () => '***' } })],
      'Ignoring.what has a transformer, which no list applies: store what is shown',
    ],
    [
      '@VersionColumn',
      [VersionColumn({ type: 'integer' })],
      'Ignoring.what is a @VersionColumn, which no import increases: the ETag is the version',
    ],
    [
      '@ForeignKey to a column that does not identify',
      [Column(nameColumn), ForeignKey(() => Named, 'name')],
      'Ignoring.what refers with @ForeignKey to another column than the identifier of Named, by which objects are looked up',
    ],
  ])('%s', async (_, decorators, message) => {
    expect(await problemsOf(withProperty(...decorators), Brand, Named)).toEqual([message]);
  });

  it('a listener', async () => {
    class Listening {
      @PrimaryColumn(identifierColumn) id!: string;
      @AfterLoad() hide(): void {
        this.id = '***';
      }
    }
    Resource('test_listening')(Listening);
    expect(await problemsOf(Listening)).toEqual([declared('Listening.hide', 'entityListeners')]);
  });

  it.each([
    ['inheritances', TableInheritance({ column: 'what' })],
    ['trees', Tree('materialized-path')],
  ])('%s of TypeORM', async (kind, decorate) => {
    const entity = withProperty(Column(nameColumn));
    decorate(entity);
    expect(await problemsOf(entity)).toContain(declared('Ignoring', kind));
  });

  it('and not the shape of an object in JSON, nor a foreign key', async () => {
    class Shape {
      @IsString() text!: string;
    }
    for (const decorators of [
      [Column({ type: 'jsonb' }), TransformType(() => Shape)],
      [Column({ ...identifierColumn, nullable: true }), ForeignKey(() => Brand)],
    ]) {
      expect(await problemsOf(withProperty(...decorators), Brand)).toEqual([]);
    }
  });
});

/** An entity of its own with an identifier. */
function named(name: string, ...decorators: ClassDecorator[]): Type {
  class Own {
    @PrimaryColumn(identifierColumn) id!: string;
  }
  Object.defineProperty(Own, 'name', { value: name });
  for (const decorate of decorators) decorate(Own);
  return Own;
}

const resource = (name: string) => Resource(name) as ClassDecorator;

describe('The name of a resource', () => {
  it.each([
    ['facets', 'The resource facets of Own is taken by the service itself'],
    [
      'brands_deletions',
      'The resource brands_deletions of Own is taken by the service itself, as all names that end in _deletions are',
    ],
    ...['Offers', 'order-items', "o'clock", 'a/b', ':id', ''].map((name) => [
      name,
      `The resource "${name}" of Own must begin with a letter from a to z and have no other characters than these, digits and _`,
    ]),
  ])('is not %s', async (name, message) => {
    expect(await withEntities([named('Own', resource(name))], nameProblems)).toContain(message);
  });

  it('is that of one entity and one table', async () => {
    class SubBrand extends Brand {}
    Entity('test_sub_brands')(SubBrand);
    const problems = await withEntities(
      [
        ...[Brand, SubBrand, Client],
        named('One', resource('test_ones')),
        named('Other', resource('test_ones')),
        named('Two', resource('test_twos'), Entity('test_others')),
      ],
      nameProblems,
    );
    const twice =
      'and as another resource: it needs one @Resource and no @Entity, also if it extends a resource';
    expect(problems).toEqual([
      `SubBrand is declared as the table test_sub_brands ${twice}`,
      `Two is declared as the table test_others ${twice}`,
      'Brand and SubBrand are both the resource brands',
      'One and Other are both the resource test_ones',
      'One and Other are both the table test_ones',
    ]);
  });

  it('is not that of a table of the service', async () => {
    expect(await withEntities([Client, named('Own', resource('clients'))], nameProblems)).toContain(
      'Client and Own are both the table clients',
    );
    expect(await withEntities([Client, Brand], nameProblems)).toEqual([]);
  });
});
