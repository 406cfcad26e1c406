import { describe, expect, it } from '@jest/globals';
import { exported } from '../import/exported.js';
import { miscounts } from '#server/verify/object-checks.js';
import { findViolations } from '#server/verify/verify.js';
import { TallyMaintenance } from '#server/tally/maintain.js';
import { deletedSince } from '../deleted.js';
import { refusal, type Service } from '../service.js';
import { KEYED_WORDS, KeyedModule, type KeyType, NODES } from './keyed.fixture.js';
import { byIdentifier, describeList } from '#server/testing/describe-list.js';
import { AppModule } from '../../src/app.module.js';
import { comparePage, equals, type PlainResource } from '#server/testing/oracle.js';
import { startWith } from './migrated.js';
import { shared } from '#server/testing/shared.js';

/** Identifiers of a type in an order that is not that of their texts. */
const KEYS: Readonly<Record<KeyType, (at: number) => string | number>> = {
  integer: (at) => 3 * at - 20,
  // Numbers that JavaScript would round.
  bigint: (at) => String(9_007_199_254_740_993n * BigInt(at - 8)),
  uuid: (at) =>
    `${at % 2 ? 'f' : '0'}23e4567-e89b-42d3-a456-4266141740${String(at).padStart(2, '0')}`,
};

const start = (): Promise<Service> => startWith(KeyedModule, { before: KEYED_WORDS });

for (const type of Object.keys(KEYS) as KeyType[]) {
  const key = KEYS[type];
  const entity = NODES.get(type);
  // What differs by the type is tested below.
  if (entity && type === 'bigint') {
    describeList(entity, AppModule, {
      start,
      fields: ['nodeID', 'kind', 'name', 'parentID', 'createdAt', 'updatedAt'],
      sorts: ['nodeID', 'name', 'parentID'],
    });
  }

  describe(`A resource identified by ${type}`, () => {
    const resource = `test_${type}_nodes`;
    const service = shared(start);

    const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

    async function identifiers(parameters: string): Promise<unknown[]> {
      const { body } = await service.get(`/${resource}?fields=nodeID&${parameters}`).expect(200);
      return (body.response_data.objects as { nodeID: unknown }[]).map(({ nodeID }) => nodeID);
    }

    it('has nothing that verify complains of', async () => {
      expect(await findViolations(service.application)).toEqual([]);
    });

    it('has the counts and the pages of plain SQL in ranges that were cut', async () => {
      const sql = {
        integer: '(i * 7919 % 20011) - 10000',
        bigint: '(i::bigint * 7919 % 20011 - 10000) * 900719925474099',
        uuid: `md5(i::text)::uuid`,
      }[type];
      await query(
        `INSERT INTO ${resource} ("nodeID", kind, name)
         SELECT ${sql}, (ARRAY['INNER', 'LEAF'])[1 + i % 2]::test_${type}_nodes_kind_enum, 'n' || i % 90
         FROM generate_series(1, 12000) i`,
      );
      const metadata = service.dataSource.getMetadata(resource);
      while (!(await new TallyMaintenance(service.dataSource, metadata).run()));
      const [{ ranges } = { ranges: '0' }] = await query<{ ranges: string }>(
        `SELECT count(*) AS ranges FROM ${resource}_tally WHERE facet = ''`,
      );
      expect(Number(ranges)).toBeGreaterThan(3);
      await query(`DELETE FROM ${resource} WHERE name = 'n17'`);
      await query(`UPDATE ${resource} SET kind = 'LEAF' WHERE name = 'n18'`);
      expect(await miscounts(service.dataSource, metadata)).toEqual([]);
      while (!(await new TallyMaintenance(service.dataSource, metadata).run()));
      expect(await miscounts(service.dataSource, metadata)).toEqual([]);
      const nodes: PlainResource = {
        path: `/${resource}`,
        table: resource,
        identifier: 'nodeID',
        sorts: [],
        filters: { kind: equals('kind', []) },
      };
      for (const list of ['', 'kind=LEAF', 'sort=-nodeID', 'sort=-nodeID&kind=LEAF']) {
        const request = { ...Object.fromEntries(new URLSearchParams(list)), limit: '4' };
        for (const offset of ['0', '1', '5000', '5555']) {
          await comparePage(service, nodes, { ...request, offset });
        }
        const { objects, count } = await comparePage(service, nodes, {
          ...request,
          offset: '4000',
        });
        await comparePage(service, nodes, { ...request, offset: String(Number(count) - 3) });
        await comparePage(service, nodes, { ...request, after: objects[0] ?? '' });
      }
      await query(`DELETE FROM ${resource}`);
    });

    it('reaches from the least to the greatest value', async () => {
      const [least = '', greatest = ''] = {
        integer: ['-2147483648', '2147483647'],
        bigint: ['-9223372036854775808', '9223372036854775807'],
        uuid: ['00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'],
      }[type];
      await query(
        `INSERT INTO ${resource} ("nodeID", kind, name) VALUES ('${least}', 'LEAF', 'a'), ('${greatest}', 'LEAF', 'b')`,
      );
      for (const parameters of [
        '',
        'kind=LEAF',
        'sort=name',
        'kind=LEAF&offset=0',
        `nodeID=${least},${greatest}`,
      ]) {
        expect((await identifiers(parameters)).map(String)).toEqual([least, greatest]);
      }
      expect((await identifiers('offset=1')).map(String)).toEqual([greatest]);
      expect((await identifiers(`after=${least}`)).map(String)).toEqual([greatest]);
      expect(await identifiers(`after=${greatest}`)).toEqual([]);
      const { headers } = await service.get(`/${resource}?limit=1`).expect(200);
      expect(headers.link).toContain(`after=${least}>; rel="after"`);
      await query(`DELETE FROM ${resource}`);
    });

    it('refuses what cannot be an identifier, wherever one stands', async () => {
      for (const bad of ['abc', '1.5', '%201', '1e3', '%00', 'x'.repeat(300)]) {
        for (const path of [
          `/${resource}/${bad}`,
          `/${resource}?after=${bad}`,
          `/${resource}?nodeID=${bad}`,
          `/${resource}?within=${bad}`,
        ]) {
          const { body } = await service.get(path).expect(400);
          expect([path, body.result.errcode]).toEqual([path, '-22']);
        }
      }
      if (type === 'uuid') return;
      const beyond = type === 'integer' ? '2147483648' : '9223372036854775808';
      const least = type === 'integer' ? '-2147483648' : '-9223372036854775808';
      const greatest = type === 'integer' ? '2147483647' : '9223372036854775807';
      const range = `between ${least} and ${greatest}`;
      await service
        .get(`/${resource}/${beyond}`)
        .expect(400, refusal(-26, `The parameter nodeID must be ${range}`));
      await service
        .get(`/${resource}?after=${beyond}`)
        .expect(400, refusal(-26, `The parameter after must be ${range}`));
      await service
        .get(`/${resource}?nodeID=1,${'9'.repeat(400)}`)
        .expect(400, refusal(-26, `The parameter nodeID must be ${range}`));
    });

    it('finds an object by any text of its identifier, and by its text in q', async () => {
      const id = String(key(9));
      await query(
        `INSERT INTO ${resource} ("nodeID", kind, name) VALUES ('${id}', 'LEAF', 'lamp')`,
      );
      const other = type === 'uuid' ? id.toUpperCase() : id.replace(/(\d+)/, '00$1');
      for (const text of [id, other]) {
        const { body } = await service.get(`/${resource}/${text}`).expect(200);
        expect(String(body.response_data.objects[0].nodeID)).toBe(id);
        for (const parameters of [
          `nodeID=${text}`,
          `q=${text}`,
          `q=${text}&sort=relevance`,
          `q=${text}&sort=-name`,
          `within=${text}`,
        ]) {
          expect((await identifiers(parameters)).map(String)).toEqual([id]);
        }
      }
      for (const text of ['lamp', 'lamp*', 'LAMP']) {
        expect((await identifiers(`q=${text}`)).map(String)).toEqual([id]);
      }
      expect(await identifiers(`q=${'9'.repeat(300)}`)).toEqual([]);
      await query(`DELETE FROM ${resource}`);
    });

    it('exports what it imports', async () => {
      const objects = [3, 11, 12].map((at) => ({
        nodeID: key(at),
        kind: 'LEAF',
        name: `name ${at}`,
        parentID: at === 3 ? null : key(3),
      }));
      await service.load(resource, objects);
      const metadata = service.dataSource.getMetadata(resource);
      for (const format of ['ndjson', 'csv'] as const) {
        const text = await exported(service.dataSource, metadata, format);
        const rows = text.trimEnd().split('\n');
        expect(rows).toHaveLength(format === 'csv' ? 4 : 3);
        if (format === 'ndjson') {
          expect(rows.map((row) => JSON.parse(row) as object)).toMatchObject(
            objects.toSorted((a, b) => byIdentifier(type)(a.nodeID, b.nodeID)),
          );
        } else {
          expect(rows[1]?.split(',')[0]).toBe(
            String(objects.map(({ nodeID }) => nodeID).sort(byIdentifier(type))[0]),
          );
        }
      }
      await expect(
        service.load(resource, [{ nodeID: 'abc', kind: 'LEAF', name: 'x' }]),
      ).rejects.toThrow('Nothing was loaded');
      await expect(
        service.load(
          resource,
          [objects[0], objects[0]].map((object) => ({ ...object })),
        ),
      ).rejects.toThrow('Nothing was loaded');
      await query(`DELETE FROM ${resource}`);
    });

    it('is deleted by its identifier', async () => {
      const since = new Date(Date.now() - 1000).toISOString();
      await service.load(resource, [{ nodeID: key(1), kind: 'LEAF', name: 'gone' }]);
      await query(`DELETE FROM ${resource} WHERE name = 'gone'`);
      expect(await deletedSince(service, resource, since)).toContain(key(1));
    });

    it('is documented as what it is', async () => {
      const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
      const schema = {
        integer: { type: 'integer', format: 'int32' },
        bigint: { type: 'string', format: 'int64' },
        uuid: { type: 'string', format: 'uuid' },
      }[type];
      const list = document.paths[`/${resource}`].get.parameters as {
        name: string;
        schema: object;
      }[];
      const named = (name: string) => list.find((parameter) => parameter.name === name)?.schema;
      expect(named('after')).toMatchObject(schema);
      expect(named('nodeID')).toMatchObject({ type: 'array', items: schema });
      const [inPath] = document.paths[`/${resource}/{nodeID}`].get.parameters;
      expect(inPath.schema).toMatchObject(schema);
      const { properties } = document.components.schemas[`Test${type}Node`];
      expect(properties.nodeID).toMatchObject(schema);
      expect(properties.parentID).toMatchObject({ ...schema, type: [schema.type, 'null'] });
    });
  });
}
