import { describe, expect, it } from '@jest/globals';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { findViolations } from '#server/verify/verify.js';
import { differences } from '#server/schema/differences.js';
import { installDeclared } from '../schema/declared.js';
import { exported } from '../import/exported.js';
import { imported } from '#server/testing/load-rows.js';
import type { Service } from '../service.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../../src/app.module.js';
import { startWith } from './migrated.js';
import { Sample, SamplesModule } from './typed.fixture.js';
import { shared } from '#server/testing/shared.js';

const owner = (at: number): string => `00000000-0000-4000-8000-00000000000${at % 3}`;
const serial = (at: number): string => `${1 + (at % 4)}9007199254740993`;

const OBJECTS = Array.from({ length: 25 }, (_, at) => ({
  sampleID: `s${at}`,
  day: at % 5 === 0 ? null : `2024-02-2${6 + (at % 4)}`,
  weight: at % 6 === 0 ? null : (at % 4) / 3 - 0.1,
  note: `${'long '.repeat(at * 20)}word${at % 4}`,
  tags: at % 7 === 0 ? [] : [`t${at % 4}`, 'a "b", c\\', `u${at % 3}`],
  sizes: at % 5 === 0 ? null : [at % 4, -7],
  owner: owner(at),
  serial: at % 8 === 0 ? null : serial(at),
  odd: at % 3 === 0 ? null : at % 2 === 1,
}));

const start = (): Promise<Service> =>
  startWith(SamplesModule, { before: [`SELECT install_words('test_samples', '{note}')`] });

describeList(Sample, AppModule, {
  start,
  fields: [...Object.keys(OBJECTS[0] ?? {}), 'createdAt', 'updatedAt'],
  sorts: ['sampleID', 'day', 'weight', 'serial'],
});

describe('A resource with columns of every type', () => {
  const service = shared(start);

  const metadata = () => service.dataSource.getMetadata(Sample);
  type Format = 'csv' | 'ndjson';
  const dump = (format: Format) => exported(service.dataSource, metadata(), format);
  const load = (format: Format, text: string) =>
    imported(service.dataSource, metadata(), format, [Buffer.from(text)]);

  it('has nothing that verify complains of', async () => {
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('has words again that a migration has installed, though its entity does not derive them', async () => {
    await service.dataSource.query('ALTER TABLE test_samples DISABLE TRIGGER test_samples_words');
    const found = async () => (await differences(service.dataSource)).map(({ text }) => text);
    expect(await found()).toEqual(['test_samples has no working trigger that sets its words']);
    await installDeclared(service.dataSource);
    expect(await found()).toEqual([]);
  });

  it.each(['csv', 'ndjson'] as const)('imports what it exports as %s', async (format) => {
    const extremes = [
      {
        day: '0001-01-01',
        weight: 1.7976931348623157e308,
        tags: ['NULL', '{}', ' ', '"'],
        sizes: [],
      },
      { day: '9999-12-31', weight: 5e-324, tags: ['ä,🌳', '\\'], sizes: [2147483647, -2147483648] },
      { day: '1900-02-28', weight: 0.1234567890123456, tags: [], sizes: [0] },
      { day: '2000-02-29', weight: -1e21, tags: ["'"], sizes: null },
    ].map((each, at) => ({
      ...each,
      sampleID: `x${at}`,
      note: '\t=1+2',
      owner: owner(1),
      serial: '-1',
      odd: false,
    }));
    await service.load('test_samples', [...OBJECTS, ...extremes]);
    const whole = await dump(format);
    const all = OBJECTS.length + extremes.length;
    expect(await load(format, whole)).toMatchObject({ unchanged: all });
    await service.dataSource.query('DELETE FROM test_samples');
    expect(await load(format, whole)).toMatchObject({ inserted: all });
    // A trigger sets updatedAt, the last field.
    const withoutLast = (text: string) => text.replace(/,[^,\n]*$/gm, '');
    expect(withoutLast(await dump(format))).toBe(withoutLast(whole));
    const { body } = await service.get('/test_samples?limit=1000').expect(200);
    const byID = new Map(
      (body.response_data.objects as { sampleID: string }[]).map((row) => [row.sampleID, row]),
    );
    for (const object of [...OBJECTS, ...extremes]) {
      expect(byID.get(object.sampleID)).toMatchObject(object);
    }
  });

  it.each([
    ['day', '2023-02-29', 'a date such as 2026-11-21'],
    ['day', 'infinity', 'a date such as 2026-11-21'],
    ['weight', 'NaN', 'a finite number such as 2.5 or 1e-7'],
    ['weight', '-Infinity', 'a finite number such as 2.5 or 1e-7'],
    ['weight', '1e309', 'a finite number such as 2.5 or 1e-7'],
    ['tags', '{a,b}', 'a list in JSON of texts of 1 to 500 characters'],
    ['tags', '["a",null]', 'a list in JSON of texts of 1 to 500 characters'],
    ['tags', '[[]]', 'a list in JSON of texts of 1 to 500 characters'],
    ['sizes', '[2147483648]', 'a list in JSON of integers between -2147483648 and 2147483647'],
    ['owner', 'abc', 'a UUID such as 123e4567-e89b-12d3-a456-426614174000'],
    [
      'serial',
      '9223372036854775808',
      'an integer between -9223372036854775808 and 9223372036854775807',
    ],
  ])('refuses to import %s of %s', async (field, value, expected) => {
    const row = { ...OBJECTS[1], [field]: value };
    const attempt = service.load('test_samples', [row]);
    await expect(attempt).rejects.toThrow(InvalidRowsError);
    await attempt.catch((error: unknown) => {
      const lines = (error as InvalidRowsError).lines();
      expect(lines).toEqual([expect.stringContaining(`column ${field}: must be ${expected}`)]);
    });
  });

  it('cannot hold what JSON cannot write', async () => {
    for (const value of ['NaN', 'Infinity', '-Infinity']) {
      await expect(
        service.dataSource.query(`UPDATE test_samples SET weight = '${value}'`),
      ).rejects.toThrow('violates check constraint');
    }
  });

  it('is documented as what it is', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { properties } = body.components.schemas.Sample;
    expect(properties).toMatchObject({
      day: { type: ['string', 'null'], format: 'date' },
      weight: { type: ['number', 'null'], format: 'double' },
      note: { type: 'string' },
      tags: { type: 'array', items: { type: 'string' } },
      sizes: { type: ['array', 'null'], items: { type: 'integer' } },
    });
    expect(properties.note).not.toHaveProperty('maxLength');
    const parameters = body.paths['/test_samples'].get.parameters as {
      name: string;
      schema: object;
    }[];
    const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
    expect(schemas.get('dayMin')).toMatchObject({ type: 'string', format: 'date' });
    expect(schemas.get('weightMin')).toMatchObject({
      type: 'number',
      format: 'double',
      examples: [2.5],
    });
    expect(schemas.get('sizes')).toMatchObject({
      type: 'array',
      items: { type: 'integer' },
      examples: [[1]],
    });
  });
});
