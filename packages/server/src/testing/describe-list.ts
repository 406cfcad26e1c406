import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Type } from '@nestjs/common';
import type { Test } from 'supertest';
import { getMetadataArgsStorage, type ObjectType } from 'typeorm';
import { parse } from 'csv-parse/sync';
import {
  type ParameterSchema,
  parametersOf,
  schemaOf,
  separableValue,
  settingsFor,
} from '../http/parameters/declared-parameters.js';
import { countableFieldsOf } from '../list/facets/countable-fields.js';
import { type ListQueryClass, listQueryOf } from '../list/query/query-of.js';
import { searchParameterOf } from '../list/query/search-text.js';
import { declaredChildren, relatedEntity, relatedName } from '../resource/relations.js';
import { declaredColumns, naturalOrders } from '../resource/declaration.js';
import {
  externalTableOf,
  primaryColumnOf,
  resourceName,
  resourcesOf,
  singleCountedColumnsOf,
  tableOf,
} from '../resource/resource.js';
import { callLists } from '../verify/called-lists.js';
import { refusal, type Service, startService } from './service.js';
import { fillTable } from './load-rows.js';
import { loadReferenced, madeObjects, type MadeValues } from './made-objects.js';
import { compareFacets, comparePage, type PlainResource } from './oracle.js';
import { plainCountableFields } from './plain-countable-fields.js';
import { type NamedTrials, trialsOf, type WholeTrial } from './trials.js';
import { shared } from './shared.js';

type Row = Record<string, unknown>;

type IdentifierType = 'text' | 'integer' | 'bigint' | 'uuid';

/** An identifier of each type that no object has, and one that is none. */
const NO_OBJECT: Readonly<Record<IdentifierType, { unknown: string; bad: string }>> = {
  text: { unknown: 'there-is-none', bad: 'x'.repeat(101) },
  integer: { unknown: '2147483646', bad: 'there-is-none' },
  bigint: { unknown: '9223372036854775806', bad: 'there-is-none' },
  uuid: { unknown: 'ffffffff-ffff-4fff-bfff-ffffffffffff', bad: 'there-is-none' },
};

/** What `describeList` cannot take from the metadata of a resource. */
export interface ListOptions extends NamedTrials {
  /** The values of columns that must meet a check, by column, of the object at each place. */
  readonly values?: MadeValues;
  /** The public fields in order, and the fields that `sort` may name. Default: as declared. */
  readonly fields?: readonly string[];
  readonly sorts?: readonly string[];
  /** At least 20 objects. For each field of `sort`, several must share a value. Default: made from the metadata. */
  readonly objects?: readonly Row[];
  /** Starts the service. Default: with the module. */
  readonly start?: () => Promise<Service>;
  /** Loads objects of other resources that refer to the objects, for filters by them. */
  readonly loadChildren?: (service: Service, objects: readonly Row[]) => Promise<void>;
  /** A view of the table whose columns have the names of the fields. Default: the table itself. */
  readonly view?: string;
}

/**
 * Tests the endpoints of a resource against the contract of every list, with objects made from its metadata.
 *
 * @param module the module that imports those of the resources
 */
export function describeList(
  entity: ObjectType<unknown>,
  module: Type,
  options: ListOptions = {},
): void {
  const resource = resourceName(entity);
  const listQuery = listQueryOf(entity);
  const key = primaryColumnOf(entity);
  if (!listQuery || !key) throw new Error(`No list of the project has @QueryOf(${entity.name})`);
  const identifier = key.propertyName;
  const identifierType = identifierTypeOf(key.options.type);
  const isExternal = externalTableOf({ target: entity }) !== undefined;
  const {
    fields = getMetadataArgsStorage()
      .filterColumns(entity)
      .filter((column) => column.options.select !== false)
      .map(({ propertyName }) => propertyName),
    sorts = namesOf(listQuery, 'sort').filter((name) => !/^(-.*|relevance)$/.test(name)),
  } = options;
  const included = namesOf(listQuery, 'include');
  const includes = Object.fromEntries(
    fields
      .filter((field) => included.includes(relatedName(field) ?? ''))
      .map((field) => [field, resourceName(relatedEntity(entity, field))]),
  );
  const children = declaredChildren({ target: entity });
  const inOrder = byIdentifier(identifierType);
  const search = searchParameterOf(listQuery.prototype);
  const orders = search === undefined ? sorts : ['relevance', ...sorts];
  const path = `/${resource}`;

  describe(`GET ${path}`, () => {
    const service = shared(() => options.start?.() ?? startService(module));
    let list: { objects: readonly Row[] };
    let identifiers: unknown[];
    /** The trials of every filter. */
    let filters: Readonly<Record<string, readonly WholeTrial[]>>;

    beforeAll(async () => {
      const metadata = service.dataSource.getMetadata(entity);
      list = { objects: options.objects ?? madeObjects(metadata, options.values) };
      identifiers = list.objects.map((row) => row[identifier]).sort(inOrder);
      await loadReferenced(service, resource, list.objects);
      await load(list.objects);
      await options.loadChildren?.(service, list.objects);
      filters = await trialsOf(service.dataSource, metadata, listQuery, list.objects, options);
    });

    async function load(rows: readonly Row[]): Promise<void> {
      try {
        if (isExternal) await fillTable(service, resource, rows);
        else await service.load(resource, [...rows]);
      } catch (error) {
        throw new Error(
          `The objects that are made for the test cannot be loaded; give describeList(${entity.name}, { values: { … } }): ${String(error)}`,
          { cause: error },
        );
      }
    }

    /** The resource in plain SQL, without its filters. */
    function plain(): PlainResource {
      const table = options.view ?? tableOf(service.dataSource.getMetadata(entity));
      const natural = Object.fromEntries(
        [...naturalOrders(entity).keys()].map((name) => [
          name,
          list.objects.flatMap(({ [name]: text }) => (typeof text === 'string' ? [text] : [])),
        ]),
      );
      return { path, table, identifier, sorts, natural, filters: {} };
    }

    async function objects(query: string): Promise<Row[]> {
      const { body } = await service.get(`${path}?${query}`).expect(200);
      return body.response_data.objects as Row[];
    }

    function described(url: string): Test {
      return service.anonymous().options(url).set(service.headers);
    }

    async function refusesUndefined(url: string, name: string): Promise<void> {
      await service
        .get(`${url}?${name}=1`)
        .expect(400, refusal(-23, `The parameter ${name} must not be present in this request`));
    }

    function trials(): [name: string, WholeTrial][] {
      return Object.entries(filters).flatMap(([name, each]) =>
        each.map((trial): [string, WholeTrial] => [name, trial]),
      );
    }

    async function walk(limit: number, query = ''): Promise<unknown[]> {
      const found: unknown[] = [];
      for (let offset = 0; ; offset += limit) {
        const page = await objects(
          `fields=${identifier}&limit=${limit}&offset=${offset}${query && `&${query}`}`,
        );
        found.push(...page.map((row) => row[identifier]));
        if (page.length < limit) return found;
      }
    }

    it('answers with the envelope, the exact count and every public field in its order', async () => {
      const response = await service.get(`${path}?limit=1`).expect(200);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(Object.keys(response.body)).toEqual(['result', 'response_data']);
      expect(response.body.result).toEqual({ status: 'OK', errcode: '0', msg: '' });
      expect(Object.keys(response.body.response_data)).toEqual(['count', 'objects']);
      expect(response.body.response_data.count).toBe(String(list.objects.length));
      expect(Object.keys(response.body.response_data.objects[0])).toEqual(fields);
    });

    it('answers with the objects as they were loaded', async () => {
      for (const { createdAt, updatedAt, ...row } of await objects('limit=1000')) {
        const loaded = list.objects.find((object) => object[identifier] === row[identifier]);
        const { createdAt: loadedAt, ...others } = loaded ?? {};
        expect(row).toEqual(others);
        const times = fields.filter((field) => ['createdAt', 'updatedAt'].includes(field));
        expect([createdAt, updatedAt].filter((time) => TIME.test(String(time)))).toHaveLength(
          times.length,
        );
        if (loadedAt !== undefined) expect(createdAt).toBe(loadedAt);
      }
    });

    it('returns 50 objects by default', async () => {
      expect(await objects('')).toHaveLength(Math.min(50, list.objects.length));
    });

    it('is ordered by the identifier by default, a text byte by byte', async () => {
      expect((await objects('limit=1000')).map((row) => row[identifier])).toEqual(identifiers);
    });

    it.each([1, 7, 1000])('has pages of %i that meet without gap or overlap', async (limit) => {
      expect(await walk(limit)).toEqual(identifiers);
    });

    it('has links from page to page, which carry no credentials', async () => {
      const found: unknown[] = [];
      const credentials = `clientID=${service.clientID}&access_token=${service.token}`;
      for (let next: string | undefined = `?limit=7&fields=${identifier}`; next;) {
        const url = `${path}${next}&${credentials}`;
        const response = await service.anonymous().get(url).expect(200);
        const rows = response.body.response_data.objects as Row[];
        found.push(...rows.map((row) => row[identifier]));
        const links: string = response.headers.link ?? '';
        expect(links).not.toContain(service.token);
        next = /<([^>]+)>; rel="next"/.exec(links)?.[1];
      }
      expect(found).toEqual(identifiers);
    });

    it.each(sorts)('has links by %s that go on behind the last object of a page', async (sort) => {
      for (const order of [sort, `-${sort}`]) {
        const whole = `?sort=${order}&fields=${identifier}`;
        const { body } = await service.get(`${path}${whole}&limit=1000`).expect(200);
        const found: Row[] = [];
        for (let next: string | undefined = `${whole}&limit=7`; next;) {
          const page = await service.get(`${path}${next}`).expect(200);
          found.push(...page.body.response_data.objects);
          const relation: string = next.includes('after=') ? 'next' : 'after';
          const links: string = page.headers.link ?? '';
          next = new RegExp(`<([^>]+)>; rel="${relation}"`).exec(links)?.[1];
        }
        expect(found).toEqual(body.response_data.objects);
      }
    });

    it('answers limit=0 with the count alone', async () => {
      const { body } = await service.get(`${path}?limit=0`).expect(200);
      expect(body.response_data).toEqual({ count: String(list.objects.length), objects: [] });
    });

    it('answers an offset past the end with an empty page and the true count', async () => {
      const { body } = await service.get(`${path}?offset=9007199254740991`).expect(200);
      expect(body.response_data).toEqual({ count: String(list.objects.length), objects: [] });
    });

    it.each(['limit', 'offset'])('refuses %s when it is no plain decimal integer', async (name) => {
      for (const value of ['', 'abc', '-1', '1e3', '0x10', '5.0', '%205', '%2B5', 'NaN', '٣']) {
        const { body } = await service.get(`${path}?${name}=${encodeURI(value)}`).expect(400);
        expect(body).toEqual(refusal(-22, `The parameter ${name} must be a plain decimal integer`));
      }
    });

    it('refuses a limit or an offset out of range', async () => {
      await service
        .get(`${path}?limit=1001`)
        .expect(400, refusal(-26, 'The parameter limit must be between 0 and 1000'));
      await service
        .get(`${path}?offset=9007199254740992`)
        .expect(400, refusal(-26, 'The parameter offset must be between 0 and 9007199254740991'));
      await service.get(`${path}?offset=${'9'.repeat(400)}`).expect(400);
    });

    it.each(fields)('narrows the objects to fields=%s', async (field) => {
      const [first] = await objects(`fields=${field}&limit=1`);
      expect(Object.keys(first ?? {})).toEqual([field]);
    });

    it('takes fields in any order, with spaces and repeats, and answers in its own', async () => {
      const mixed = [...fields].reverse().map((field) => ` ${field} `);
      const query = encodeURIComponent([...mixed, ...mixed].join(','));
      const [first] = await objects(`fields=${query}&limit=1`);
      expect(Object.keys(first ?? {})).toEqual(fields);
    });

    it('refuses an unknown field by name, and names those it may be', async () => {
      for (const name of ['nonsense', fields[0]?.toUpperCase() ?? '', '__proto__', 'constructor']) {
        const { body } = await service.get(`${path}?fields=${fields[0]},${name}`).expect(400);
        const message = `The parameter fields must not name ${name}; it may name ${fields.join(', ')}`;
        expect(body.result.errcode).toBe('-25');
        // Fields of related objects follow.
        expect(body.result.msg.startsWith(message)).toBe(true);
      }
    });

    it('refuses empty fields', async () => {
      for (const value of ['', '%20', ',', `${fields[0]},`, `,${fields[0]}`]) {
        const { body } = await service.get(`${path}?fields=${value}`).expect(400);
        expect(body.result.errcode).toBe('-22');
      }
    });

    it.each(sorts)(
      'sorts by %s both ways, ties by the identifier in the same direction',
      async (sort) => {
        for (const key of [sort, `-${sort}`, `${sort},-${sort}`]) {
          const request = { sort: key, limit: '1000', fields: identifier };
          const { objects: wanted } = await comparePage(service, plain(), request);
          expect((await walk(7, `sort=${key}`)).map(String)).toEqual(wanted);
        }
      },
    );

    it('refuses to sort by what it does not offer', async () => {
      await service
        .get(`${path}?sort=nonsense`)
        .expect(
          400,
          refusal(
            -25,
            `The parameter sort must not name nonsense; it may name ${orders.join(', ')}`,
          ),
        );
      for (const value of ['', '-', `${sorts[0]},`, `,${sorts[0]}`]) {
        const { body } = await service.get(`${path}?sort=${value}`).expect(400);
        expect(body.result.errcode).toBe('-22');
      }
    });

    if (search !== undefined) {
      it('sorts by relevance what a search finds, and nothing without a search', async () => {
        const found = async (others: string): Promise<unknown[]> => {
          const { body } = await service
            .get(
              `${path}?${search}=${encodeURIComponent(filters[search]?.[0]?.value ?? '')}${others}`,
            )
            .expect(200);
          return (body.response_data.objects as Record<string, unknown>[]).map(
            (object) => object[identifier],
          );
        };
        const identifiers = await found('&sort=relevance');
        expect(identifiers.length).toBeGreaterThan(0);
        expect(identifiers.toSorted()).toEqual((await found('')).toSorted());
        expect(await found('&sort=relevance&offset=1')).toEqual(identifiers.slice(1));
        await service
          .get(`${path}?sort=relevance`)
          .expect(
            400,
            refusal(-22, `The parameter sort must be given with ${search} if it names relevance`),
          );
      });
    }

    describe('each filter', () => {
      it('leaves the objects that match, and counts them all', async () => {
        const orders = await Promise.all(
          sorts
            .flatMap((each) => [each, `-${each}`])
            .map(async (sort) => {
              const rows = await objects(`fields=${identifier}&sort=${sort}&limit=1000`);
              return [sort, rows.map((row) => row[identifier])] as const;
            }),
        );
        for (const [name, { value, keeps }] of trials()) {
          const query = `${name}=${encodeURIComponent(value)}`;
          const { body } = await service.get(`${path}?${query}&limit=1000`).expect(200);
          const expected = list.objects.filter(keeps).map((row) => row[identifier]);
          const found = body.response_data.objects.map((row: Row) => row[identifier]);
          expect([query, found]).toEqual([query, expected.sort(inOrder)]);
          expect([query, expected.length > 0]).toEqual([query, true]);
          expect([query, expected.length < list.objects.length]).toEqual([query, true]);
          expect(body.response_data.count).toBe(String(expected.length));
          expect(await walk(11, query)).toEqual(found);
          // One value of a filter is enough to try the orders.
          if (filters[name]?.[0]?.value !== value) continue;
          for (const [sort, order] of orders) {
            const whole = await objects(`${query}&sort=${sort}&limit=1000`);
            const kept = order.filter((key) => found.includes(key));
            expect([sort, whole.map((row) => row[identifier])]).toEqual([sort, kept]);
            const behind = await objects(`${query}&sort=${sort}&offset=1&limit=1000`);
            expect(behind).toEqual(whole.slice(1));
          }
        }
      });

      it('refuses a value that its type cannot hold', async () => {
        for (const [name, { bad }] of trials()) {
          for (const text of ['', '%00', '%FF', '%ED%A0%80', ...bad.map(encodeURIComponent)]) {
            const { body } = await service.get(`${path}?${name}=${text}`).expect(400);
            expect([name, text, body.result.errcode]).toEqual([name, text, '-22']);
            expect(body.result.msg).toMatch(new RegExp(`^The parameter ${name} must be .+`));
          }
        }
      });

      it('may be given only once', async () => {
        for (const [name, { value }] of trials()) {
          const query = `${name}=${encodeURIComponent(value)}`;
          await service
            .get(`${path}?${query}&${query}`)
            .expect(400, refusal(-24, `The parameter ${name} must be given only once`));
        }
      });
    });

    for (const [column, other] of Object.entries(includes)) {
      it(`includes the object of ${column}, as ${other} have it`, async () => {
        const name = nameOf(column);
        const { body } = await service.get(`${path}?include=${name}&limit=1000`).expect(200);
        const objects = body.response_data.objects as Row[];
        const known = new Map<unknown, unknown>([[null, null]]);
        for (const object of objects) {
          const key = object[column];
          if (!known.has(key)) {
            const one = await service
              .get(`/${other}/${encodeURIComponent(String(key))}`)
              .expect(200);
            known.set(key, one.body.response_data.objects[0]);
          }
          expect(object[name]).toEqual(known.get(key));
        }
        expect(objects.length).toBe(list.objects.length);
        expect(known.size).toBeGreaterThan(1);
        // A single object has it as in the list.
        const [first] = objects;
        const url = `${path}/${encodeURIComponent(String(first?.[identifier]))}`;
        const one = await service.get(`${url}?include=${name}`).expect(200);
        expect(one.body.response_data).toEqual({ count: '1', objects: [first] });
      });
    }

    for (const [name, { limit }] of children) {
      it(`includes the ${name} that refer to each object, and their number`, async () => {
        const found = await objects(`include=${name}&limit=1000`);
        const own = found.map(({ [name]: shown, [`${name}Count`]: count, ...object }) => {
          expect(shown).toHaveLength(Math.min(limit, Number(count)));
          return object;
        });
        expect(own).toEqual(await objects('limit=1000'));
      });
    }

    it('keeps the count when limit, offset and fields say otherwise', async () => {
      const [[name, { value }] = ['', { value: '' }]] = trials();
      const query = `${name}=${encodeURIComponent(value)}`;
      const all = await service.get(`${path}?${query}`).expect(200);
      const narrowed = await service
        .get(`${path}?${query}&limit=1&offset=1&fields=${identifier}`)
        .expect(200);
      expect(narrowed.body.response_data.count).toBe(all.body.response_data.count);
    });

    it('refuses a parameter that it does not define, by name', async () => {
      for (const name of ['nonsense', 'Limit', 'limit[]', '__proto__', 'constructor', 'toString']) {
        await refusesUndefined(path, name);
      }
    });

    it('answers HEAD as GET, without the body', async () => {
      // supertest accepts compressed responses by default, but not for HEAD.
      const get = await service.get(path).set('Accept-Encoding', 'identity').expect(200);
      const head = await service.anonymous().head(path).set(service.headers).expect(200);
      expect(head.headers['content-length']).toBe(get.headers['content-length']);
      expect(head.text).toBeUndefined();
    });

    it('is the same as NDJSON, whole and to the byte', async () => {
      const stream = async (query: string) => {
        const { text, headers } = await service
          .get(`${path}${query}`)
          .set('Accept', 'application/x-ndjson')
          .buffer(true)
          .parse((response, done) => {
            const chunks: Buffer[] = [];
            response.on('data', (chunk: Buffer) => chunks.push(chunk));
            response.on('end', () => {
              done(null, Buffer.concat(chunks).toString());
            });
          })
          .expect('Content-Type', 'application/x-ndjson; charset=utf-8')
          .expect(200)
          .then(({ body, headers: received }) => ({ text: body as string, headers: received }));
        expect(headers['x-total-count']).toBe(String(list.objects.length));
        return text;
      };
      const page = await service.get(`${path}?limit=1000`).expect(200);
      const whole = await stream('');
      expect(page.text).toContain(`"objects":[${whole.trimEnd().split('\n').join(',')}]`);
      expect(await stream(`?limit=3&offset=2&fields=${identifier}`)).toBe(
        identifiers
          .slice(2, 5)
          .map((value) => `${JSON.stringify({ [identifier]: value })}\n`)
          .join(''),
      );
      for (const sort of sorts) {
        const rows = await objects(`sort=-${sort}&limit=1000`);
        const lines = (await stream(`?sort=-${sort}`)).trimEnd().split('\n');
        expect(lines.map((line) => JSON.parse(line) as Row)).toEqual(rows);
      }
    });

    it('is the same as CSV, with a header also where nothing matches', async () => {
      const { text } = await service.get(path).set('Accept', 'text/csv').buffer(true).expect(200);
      const [header, ...rows] = parse(text, { record_delimiter: '\r\n' });
      expect(header).toEqual(fields);
      expect(rows.map(([first]) => first)).toEqual(identifiers.map(String));
      const none = await service
        .get(`${path}?offset=100000&fields=${identifier}`)
        .set('Accept', 'text/csv')
        .buffer(true)
        .expect('X-Total-Count', String(list.objects.length))
        .expect(200);
      expect(none.text).toBe(`${identifier}\r\n`);
    });

    if (isExternal) {
      it('has no ETag, and neither changes nor deletions, and offers no more', async () => {
        const { headers } = await service.get(path).expect(200);
        expect(headers).not.toHaveProperty('etag');
        expect(headers).not.toHaveProperty('x-updated-until');
        await service.get(path).set('If-None-Match', '*').expect(200);
        for (const name of ['updatedSince', 'updatedUntil']) {
          await refusesUndefined(path, name);
        }
        const changes = await service
          .get(`/changes?resources=${resource}`)
          .set('Accept', 'application/x-ndjson');
        expect([changes.status, changes.body.result.errcode]).toEqual([400, '-25']);
        const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
        const { parameters, responses } = document.paths[path].get;
        expect(names(parameters)).not.toContain('updatedSince');
        expect(responses).not.toHaveProperty('304');
        const described = Object.keys(responses[200].headers);
        expect(described).not.toContain('ETag');
        expect(described).not.toContain('X-Updated-Until');
      });
    }

    const itKept = isExternal ? it.skip : it;
    itKept('lists what changed since a time, and what was deleted', async () => {
      const times = (await objects('limit=1000')).map(({ updatedAt }) => String(updatedAt)).sort();
      const [since = ''] = times;
      const after = new Date(Date.parse(times.at(-1) ?? '') + 1).toISOString();
      for (const [time, count] of [
        [since, list.objects.length],
        [after, 0],
      ] as const) {
        const { body } = await service.get(`${path}?updatedSince=${time}&limit=0`).expect(200);
        expect(body.response_data.count).toBe(String(count));
        const before = await service.get(`${path}?updatedUntil=${time}&limit=0`).expect(200);
        expect(before.body.response_data.count).toBe(String(list.objects.length - count));
      }
      // One to which no other refers.
      const last = identifiers.findLast((each) =>
        list.objects.every((row) =>
          Object.entries(row).every(([name, value]) => name === identifier || value !== each),
        ),
      );
      await service.dataSource.query(
        `DELETE FROM ${plain().table} WHERE "${identifier}" = '${String(last)}'`,
      );
      const changes = () =>
        service
          .get(`/changes?resources=${resource}&since=${since}`)
          .set('Accept', 'application/x-ndjson')
          .buffer(true)
          .expect(200);
      const deleted = JSON.stringify({ resource, deleted: last });
      expect((await changes()).text.split('\n').at(-2)).toBe(deleted);
      await load(list.objects.filter((object) => object[identifier] === last));
      expect((await changes()).text).not.toContain(deleted);
      const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
      const { parameters, responses } = document.paths[path].get;
      expect(names(parameters)).toEqual(expect.arrayContaining(['updatedSince', 'updatedUntil']));
      expect(responses).toHaveProperty('304');
      expect(responses[200].headers).toHaveProperty('X-Updated-Until');
    });

    describe('its facet counts', () => {
      const facets = `/facets${path}`;
      const counted = (): string[] => {
        const metadata = resourcesOf(service.dataSource).get(resource);
        return metadata
          ? [...singleCountedColumnsOf(metadata), ...declaredColumns(metadata).items]
          : [];
      };
      const withFacets = (): PlainResource => ({
        ...plain(),
        facets: plainCountableFields(service.dataSource.getMetadata(entity), options.tree, search),
      });

      it('are of its counted columns, and do not exist without', async () => {
        if (counted().length === 0) {
          await service.get(facets).expect(404, refusal(-30, `There is no resource at ${facets}`));
          return;
        }
        const ordered = [...new Set([...fields, ...counted()])].filter((name) =>
          counted().includes(name),
        );
        await compareFacets(service, withFacets(), ordered, { limit: '1000' });
      });

      it('are of whatever else facets may name: limits, a tree, and no near words without a search', async () => {
        if (counted().length === 0) return;
        const { names: all } = countableFieldsOf(entity as Type);
        const sent = { facets: all.join(), limit: '1000' };
        await compareFacets(service, withFacets(), all, sent);
      });

      it('are those of the list by each value that they show', async () => {
        const filtered = counted().filter((name) => parameterOf(listQuery, name));
        if (filtered.length === 0) return;
        const { body } = await service
          .get(`${facets}?facets=${filtered.join()}&limit=20`)
          .expect(200);
        for (const { field, value, count } of body.response_data.objects) {
          const isSeveral = parameterOf(listQuery, field)?.type === 'array';
          const text = isSeveral ? separableValue(String(value)) : String(value);
          const query = `${field}=${encodeURIComponent(text)}&limit=0`;
          const found = await service.get(`${path}?${query}`).expect(200);
          expect([query, found.body.response_data.count]).toEqual([query, count]);
        }
      });

      it('take the filters of the list, facets and limit, and nothing else', async () => {
        if (counted().length === 0) return;
        const [ofList, ofFacets] = await Promise.all(
          [path, facets].map(async (url) => (await described(url).expect(200)).body.response_data),
        );
        const others = ['fields', 'include', 'offset', 'after', 'sort'];
        const wanted = names(ofList.objects).filter((name) => !others.includes(name));
        const own = names(ofFacets.objects).filter((name) => !wanted.includes(name));
        expect(own).toEqual(own.includes('bounds') ? ['bounds', ...OF_FACETS] : OF_FACETS);
        const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
        const documented = names(document.paths[facets].get.parameters);
        expect(documented).toEqual(expect.arrayContaining(['facets', 'limit']));
        for (const name of others) {
          await refusesUndefined(facets, name);
        }
      });
    });

    it('has filters whose conditions compare and read what they say', async () => {
      const isOwn = (endpoint: { path: string }) => `${endpoint.path}/`.startsWith(`${path}/`);
      expect((await callLists(service.application, isOwn)).problems).toEqual([]);
    });

    it('offers no other method', async () => {
      for (const method of ['post', 'put', 'patch', 'delete'] as const) {
        const { [method]: send } = service.anonymous();
        await send(path)
          .expect(
            405,
            refusal(-32, `The method ${method.toUpperCase()} is not allowed for this resource`),
          )
          .expect('Allow', 'GET, HEAD, OPTIONS');
      }
    });

    describe('OPTIONS', () => {
      const including = included.length > 0 ? ['include'] : [];

      it('answers with the parameters that the list takes, and what they mean', async () => {
        const own = [...Object.keys(filters), ...OF_EVERY_LIST, ...including];
        const { body, headers } = await described(path).expect(200);
        expect(headers.allow).toBe('GET, HEAD, OPTIONS');
        const { count, objects: parameters } = body.response_data;
        expect(names(parameters)).toEqual(expect.arrayContaining(own));
        expect(count).toBe(String(parameters.length));
        for (const parameter of parameters) {
          expect(Object.keys(parameter)).toEqual(PARAMETER);
          expect(parameter.meaning).toMatch(/\w+.*\.$/);
        }
        const [limit, sort] = ['limit', 'sort'].map((name) =>
          parameters.find((parameter: Row) => parameter.name === name),
        );
        expect(limit).toMatchObject({ type: 'integer', minimum: 0, maximum: 1000, default: 50 });
        expect(sort).toMatchObject({ type: 'array', default: [identifier] });
        expect(sort.allowedValues).toEqual([
          ...(search === undefined ? [] : ['relevance']),
          ...sorts.flatMap((name) => [name, `-${name}`]),
        ]);
      });

      it('answers with those of the single object, whether there is one or not', async () => {
        const { body } = await described(`${path}/${NO_OBJECT[identifierType].unknown}`).expect(
          200,
        );
        const { objects: parameters } = body.response_data;
        expect(names(parameters)).toEqual(
          ['access_token', 'clientID', 'fields', ...including].sort(),
        );
        // The fields and related objects that the list may name.
        const { body: list } = await described(path).expect(200);
        for (const name of ['fields', ...including]) {
          const [one, other] = [parameters, list.response_data.objects].map((each: Row[]) =>
            each.find((parameter) => parameter.name === name),
          );
          expect(one?.allowedValues).toEqual(other?.allowedValues);
        }
      });

      it('gets the same errors as GET, in the same order', async () => {
        await service
          .anonymous()
          .options(`${path}?nonsense=1`)
          .expect(401, refusal(-10, 'The parameter clientID is required'));
        await described(`${path}?limit=abc&nonsense=1`).expect(
          400,
          refusal(-23, 'The parameter nonsense must not be present in this request'),
        );
        await described(`${path}?limit=1001`).expect(
          400,
          refusal(-26, 'The parameter limit must be between 0 and 1000'),
        );
        await described(`${path}?limit=1&limit=1`).expect(
          400,
          refusal(-24, 'The parameter limit must be given only once'),
        );
        await described(`${path}?limit=1`).expect(200);
      });
    });

    it('is in the OpenAPI document, with the meaning of every parameter and field', async () => {
      const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
      const { parameters, responses } = document.paths[path].get;
      const own = parameters.filter((parameter: Row) => parameter.name !== undefined);
      expect(names(own)).toEqual(expect.arrayContaining(Object.keys(filters)));
      expect(document.paths[`${path}/{${identifier}}`].get.parameters[0]).toMatchObject({
        name: identifier,
        in: 'path',
        required: true,
      });
      const named = ({ $ref: reference }: { $ref: string }) =>
        document.components.schemas[reference.split('/').at(-1) ?? ''];
      const page = named(responses[200].content['application/json'].schema);
      const { properties } = named(page.properties.response_data.properties.objects.items);
      const related = [
        ...Object.keys(includes).map(nameOf),
        ...[...children.keys()].flatMap((name) => [name, `${name}Count`]),
      ];
      expect(Object.keys(properties)).toEqual([...fields, ...related]);
      const meanings = [...own, ...Object.values<Row>(properties)];
      for (const { description } of meanings) expect(description).toMatch(/\w+.*\.$/);
    });

    describe('by identifier', () => {
      it('answers with the one object, as the list has it', async () => {
        const [first] = await objects('limit=1');
        const { body } = await service
          .get(`${path}/${encodeURIComponent(String(identifiers[0]))}`)
          .expect(200);
        expect(body.response_data).toEqual({ count: '1', objects: [first] });
      });

      it('has an ETag of its own, and is answered 304 for it', async () => {
        const url = `${path}/${encodeURIComponent(String(identifiers[0]))}`;
        const { headers } = await service.get(url).expect(200);
        await service
          .get(url)
          .set('If-None-Match', headers.etag ?? '')
          .expect(304);
        await service
          .get(`${url}?fields=${identifier}`)
          .set('If-None-Match', headers.etag ?? '')
          .expect(200);
      });

      it('takes fields, include where the list does, and nothing else', async () => {
        const url = `${path}/${encodeURIComponent(String(identifiers[0]))}`;
        const { body } = await service.get(`${url}?fields=${identifier}`).expect(200);
        expect(body.response_data.objects).toEqual([{ [identifier]: identifiers[0] }]);
        const refused = included.length > 0 ? [] : ['include'];
        const ofLists = ['limit', 'offset', 'sort', ...Object.keys(filters)];
        for (const name of [...ofLists, ...refused]) await refusesUndefined(url, name);
        for (const name of refused) await refusesUndefined(path, name);
      });

      it('is -31 if there is no such object', async () => {
        const { unknown, bad } = NO_OBJECT[identifierType];
        await service
          .get(`${path}/${unknown}`)
          .expect(404, refusal(-31, `There is no ${resource} object ${unknown}`));
        await service.get(`${path}/${bad}`).expect(400);
        await service.get(`${path}/%00`).expect(400);
      });
    });
  });
}

/** The names that a parameter of a list may name. */
function namesOf(query: ListQueryClass, parameter: string): readonly string[] {
  return parameterOf(query, parameter)?.items?.enum ?? [];
}

/** The schema of a parameter of a list; `undefined` if there is no such parameter. */
function parameterOf(query: ListQueryClass, name: string): ParameterSchema | undefined {
  const declared = parametersOf(query).get(name);
  return declared && schemaOf(declared, settingsFor({ maxLimit: 0 }, undefined));
}

function identifierTypeOf(type: unknown): IdentifierType {
  return type === 'integer' || type === 'bigint' || type === 'uuid' ? type : 'text';
}

/** The parameters of facet counts, beside `bounds`. */
const OF_FACETS = ['facetStarts', 'facets'];

/** The parameters of every list. */
const OF_EVERY_LIST = ['clientID', 'access_token', 'fields', 'limit', 'offset', 'after', 'sort'];

/** The properties of a parameter in `OPTIONS`. */
const PARAMETER = [
  'name',
  'type',
  'allowedValues',
  'minimum',
  'maximum',
  'default',
  'required',
  'meaning',
];

/** The name of the object that a column refers to. */
function nameOf(column: string): string {
  return column.replace(/(ID|Id|_id)$/, '');
}

function names(parameters: readonly Row[]): string[] {
  return parameters.map(({ name }) => String(name)).sort();
}

/** The format of a time in the contract. */
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** Compares two identifiers as collation `C` does. */
function byBytes(one: unknown, other: unknown): number {
  return Buffer.compare(Buffer.from(String(one)), Buffer.from(String(other)));
}

/** Compares two identifiers of a type as the database does. */
export function byIdentifier(type: IdentifierType): (one: unknown, other: unknown) => number {
  if (type === 'text' || type === 'uuid') return byBytes;
  return (one, other) => Number(BigInt(String(one)) - BigInt(String(other)));
}
