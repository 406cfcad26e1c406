import { beforeAll, describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { parse } from 'csv-parse/sync';
import { InvalidRowsError } from '#server/import/invalid-rows.js';
import { imported } from '#server/testing/load-rows.js';
import { differences } from '#server/schema/differences.js';
import { findViolations } from '#server/verify/verify.js';
import type { Service } from '../service.js';
import { describeList } from '@catalogue/server/testing';
import { AppModule } from '../../src/app.module.js';
import { startWith } from './migrated.js';
import { Access, Store, StoresModule } from './shaped.fixture.js';
import { shared } from '#server/testing/shared.js';

interface StoreRow extends Record<string, unknown> {
  readonly hours: {
    readonly monday: { readonly open?: string | null; readonly close: string };
    readonly 'first-sunday'?: { readonly close: string } | null;
  } | null;
  readonly place: {
    readonly latitude: number;
    readonly seats?: number | null;
    readonly isOpen?: boolean;
    readonly access?: Access;
    readonly tags?: readonly string[];
    readonly more: unknown;
  };
}

const OBJECTS: readonly StoreRow[] = Array.from({ length: 25 }, (_, at) => ({
  storeID: `s${at}`,
  name: `store ${at % 4}`,
  hours:
    at % 6 === 0
      ? null
      : {
          monday:
            at % 5 === 0 ? { close: '17:00' } : { open: `0${6 + (at % 4)}:00`, close: '18:30' },
          ...(at % 3 === 0 && { 'first-sunday': at === 3 ? null : { close: `1${at % 4}:00` } }),
        },
  place: {
    latitude: (at % 9) * 10.25 - 41,
    ...(at % 4 > 0 && { seats: (at % 4) * 10 }),
    ...(at % 3 > 0 && { isOpen: at % 3 === 1 }),
    ...(at % 2 > 0 && { access: at % 4 === 1 ? Access.STEPS : Access.LEVEL, tags: ['a', 'b "c"'] }),
    more: [null, { at }],
  },
  contacts: at % 2 ? [] : [{ name: 'Ada, "Countess"' }],
  extra: null,
}));

const opens = (row: Record<string, unknown>) => (row as StoreRow).hours?.monday.open ?? null;

const start = (): Promise<Service> => startWith(StoresModule);

describeList(Store, AppModule, {
  start,
  fields: [...Object.keys(OBJECTS[0] ?? {}), 'createdAt', 'updatedAt'],
  sorts: ['storeID', 'name', 'opens'],
  objects: OBJECTS,
  filters: {
    opens: {
      value: '07:00,08:00',
      keeps: (row) => ['07:00', '08:00'].includes(opens(row) ?? ''),
    },
    opensMin: { value: '08:00', keeps: (row) => (opens(row) ?? '') >= '08:00' },
    opensExists: { value: 'false', keeps: (row) => opens(row) === null },
  },
});

describe('A resource with columns of a declared shape', () => {
  const service = shared(start);

  beforeAll(async () => {
    await service.load('test_stores', [...OBJECTS]);
  });

  async function problems(row: object): Promise<readonly string[]> {
    const attempt = service.load('test_stores', [{ ...OBJECTS[1], ...row }]);
    await expect(attempt).rejects.toThrow(InvalidRowsError);
    return attempt.then(
      () => [],
      (error: unknown) => (error as InvalidRowsError).lines(),
    );
  }

  it('has nothing that verify complains of, nor lacks anything', async () => {
    expect(await differences(service.dataSource)).toEqual([]);
    expect(await findViolations(service.application)).toEqual([]);
  });

  const good = { latitude: 1, more: 1 };
  it.each<[string, unknown, string]>([
    ['hours', '{"monday":', 'an object or a list in JSON, its numbers of 15 digits at most'],
    ['hours', '7', 'an object or a list in JSON'],
    ['hours', [], 'as its class declares it: the whole must be an object'],
    ['hours', {}, 'as its class declares it: monday must be given'],
    ['hours', { monday: { close: 9 } }, 'as its class declares it: monday.close must be '],
    [
      'hours',
      '{"monday":{"close":"9","open":"9"}}',
      'as its class declares it: monday.open must match ',
    ],
    ['hours', { monday: [{ close: '9' }] }, 'as its class declares it: monday must be an object'],
    [
      'hours',
      { monday: { close: '9', opne: '9' } },
      'as its class declares it: monday.opne is not declared',
    ],
    [
      'hours',
      JSON.parse('{"monday":{"close":"9","__proto__":1}}'),
      'as its class declares it: monday.__proto__ is not declared',
    ],
    ['place', { more: 1 }, 'as its class declares it: latitude must be given'],
    [
      'place',
      { ...good, latitude: 91 },
      'as its class declares it: latitude must not be greater than 90',
    ],
    ['place', { ...good, seats: 1.5 }, 'as its class declares it: seats must be an integer number'],
    [
      'place',
      { ...good, access: 'level' },
      'as its class declares it: access must be one of the following values: STEPS,LEVEL',
    ],
    ['place', { ...good, tags: 'a' }, 'as its class declares it: tags must be a list'],
    ['place', { ...good, tags: ['a', null] }, 'as its class declares it: tags[1] must be a string'],
    [
      'place',
      { ...good, tags: ['a', 'b', 'c', 'd'] },
      'as its class declares it: tags must contain no more than 3 elements',
    ],
    [
      'place',
      { ...good, seats: 1234567890123456 },
      'an object or a list in JSON, its numbers of 15 digits',
    ],
    ['contacts', [{ name: 'a' }, {}], 'as its class declares it: [1].name must be given'],
    ['contacts', { name: 'a' }, 'as its class declares it: the whole must be a list'],
  ])('refuses to import %s of %j', async (field, value, expected) => {
    const refused = await problems({ [field]: value });
    expect(refused).toEqual([
      expect.stringContaining(`line 1, column ${field}: must be ${expected}`),
    ]);
  });

  it('imports what it lists, from JSON and from CSV', async () => {
    const csv = await service
      .get('/test_stores?fields=storeID,name,hours,place,contacts,extra')
      .set('Accept', 'text/csv')
      .expect(200);
    const rows = parse<Record<string, string>>(csv.text, { columns: true });
    expect(rows).toHaveLength(OBJECTS.length);
    for (const row of rows) {
      const object = OBJECTS.find(({ storeID }) => storeID === row.storeID);
      for (const name of ['hours', 'place', 'contacts']) {
        expect(row[name] === '' ? null : JSON.parse(row[name] ?? '')).toEqual(object?.[name]);
      }
    }
    const metadata = service.dataSource.getMetadata(Store);
    const result = await imported(service.dataSource, metadata, 'csv', [Buffer.from(csv.text)]);
    expect(result).toMatchObject({ unchanged: OBJECTS.length });
  });

  it('shows what another writer has stored, with all digits', async () => {
    const stored =
      '{"b": 12345678901234567890.10, "seats": "many", "latitude": 1e2, "isOpen": [1]}';
    await service.dataSource.query(
      `INSERT INTO test_stores ("storeID", name, place) VALUES ('other', $1, $2)`,
      ['x', stored],
    );
    const { text } = await service.get('/test_stores?fields=place&name=x').expect(200);
    expect(text).toContain('12345678901234567890.10');
    expect(text).not.toContain('1e2');
    await service.dataSource.query(`DELETE FROM test_stores WHERE "storeID" = 'other'`);
  });

  it('is documented with the shape, and an example that has it', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { properties } = body.components.schemas.Store;
    const day = {
      type: 'object',
      properties: {
        open: {
          description: 'When it opens.',
          type: ['string', 'null'],
          pattern: '^[0-2][0-9]:[0-5][0-9]$',
          examples: ['08:00'],
        },
        close: { type: 'string', maxLength: 8 },
      },
      required: ['close'],
    };
    expect(properties.hours).toEqual({
      description: 'When the store is open.',
      type: ['object', 'null'],
      properties: { monday: day, 'first-sunday': { ...day, type: ['object', 'null'] } },
      required: ['monday'],
      examples: [
        { monday: { open: '08:00', close: 'a' }, 'first-sunday': { open: '08:00', close: 'a' } },
      ],
    });
    expect(properties.place.properties).toMatchObject({
      latitude: { type: 'number', minimum: -90, maximum: 90 },
      seats: { type: ['integer', 'null'] },
      isOpen: { type: ['boolean', 'null'] },
      access: { type: ['string', 'null'], enum: ['STEPS', 'LEVEL', null] },
      tags: { type: ['array', 'null'], items: { type: 'string', maxLength: 10 }, maxItems: 3 },
    });
    expect(properties.contacts).toMatchObject({
      type: 'array',
      items: { type: 'object', required: ['name'] },
      examples: [[{ name: 'Ada' }]],
    });
    expect(properties.extra).toEqual({ description: 'Anything else.' });
    const ajv = new Ajv2020({ strict: false });
    formats.default(ajv);
    for (const name of ['hours', 'place', 'contacts']) {
      const isValid = ajv.compile(properties[name]);
      for (const row of [...OBJECTS.map((each) => each[name]), ...properties[name].examples]) {
        expect([row, isValid(row)]).toEqual([row, true]);
      }
    }
  });
});
