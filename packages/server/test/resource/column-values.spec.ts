import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Column, DataSource, type EntityMetadata, PrimaryColumn } from 'typeorm';
import { cellReader } from '#server/import/cell.js';
import { resourceSchema } from '#server/openapi/schema.js';
import { identifierColumn, Resource } from '@catalogue/server';
import { fieldsOf } from '#server/resource/resource.js';
import { selection } from '#server/resource/selection.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';

@Resource('test_values')
class Value {
  @PrimaryColumn(identifierColumn)
  valueID!: string;

  /** The name that PostgreSQL itself prints for `timestamptz`. */
  @Column({ type: 'timestamp with time zone', precision: 3 })
  soldAt!: Date;

  /** A type that has no entry of its own. */
  @Column({ type: 'interval' })
  span!: string;
}

let database: TestDatabase;
let dataSource: DataSource;
let metadata: EntityMetadata;

beforeAll(async () => {
  database = await createDatabase();
  dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [Value] });
  await dataSource.initialize();
  metadata = dataSource.getMetadata(Value);
});
afterAll(async () => {
  await dataSource.destroy();
  await database.drop();
});

/** The public form of a column's value. */
async function publicForm(name: string, value: string): Promise<unknown> {
  const [row] = await dataSource.query<Record<string, unknown>[]>(
    `SELECT ${selection(metadata, [name], () => [])} FROM (SELECT ${value} AS "${name}") object`,
  );
  return row?.[name];
}

function readCell(name: string, cell: unknown): unknown {
  const column = metadata.columns.find(({ propertyName }) => propertyName === name);
  if (!column) throw new Error(`There is no column ${name}`);
  return cellReader(column)(cell);
}

describe('A time whose column has the long name of its type', () => {
  it('is listed, described and imported as any other time', async () => {
    expect(await publicForm('soldAt', `'2026-11-21T13:00:00+01'::timestamptz`)).toBe(
      '2026-11-21T12:00:00.000Z',
    );
    expect(resourceSchema(metadata, fieldsOf(metadata))).toHaveProperty(
      'properties.soldAt.format',
      'date-time',
    );
    expect(readCell('soldAt', '2026-11-21T13:00:00+01:00')).toEqual({
      value: '2026-11-21T12:00:00.000Z',
    });
  });
});

describe('A column of a type that has no entry', () => {
  it('is listed as PostgreSQL writes it and may be any JSON', async () => {
    expect(await publicForm('span', `interval '1 day'`)).toMatchObject({ days: 1 });
    expect(resourceSchema(metadata, fieldsOf(metadata))).toHaveProperty('properties.span', {});
  });

  it('is not imported', () => {
    expect(() => readCell('span', '7')).toThrow('Columns of type interval cannot be imported');
  });
});
