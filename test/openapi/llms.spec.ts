import { beforeAll, describe, expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import type { ClientOptions } from '#server/clients/clients.service.js';
import { resourcesOf } from '#server/resource/resource.js';
import { startService } from '#server/testing/service.js';
import { shared } from '#server/testing/shared.js';
import { KEYED_WORDS, KeyedModule } from '../list/keyed.fixture.js';
import { startWith } from '../list/migrated.js';
import { SuppliersModule } from '../list/supplier.fixture.js';
import { SamplesModule } from '../list/typed.fixture.js';
import { LotsModule } from '../packages/lot.fixture.js';
import { createDeclared } from '../schema/declared.js';
import { type Service, sharedService } from '../service.js';

/** Resources with identifiers and columns of every type, with and without facets and words. */
@Module({ imports: [LotsModule, SamplesModule, KeyedModule, SuppliersModule] })
class OthersModule {}

const service = sharedService({ MAX_LIMIT: '20' });
const others = shared(() =>
  startWith(OthersModule, {
    before: [`SELECT install_words('test_samples', '{note}')`, ...KEYED_WORDS],
  }),
);
/** A project of one resource, which has neither facets of references nor words. */
const lots = shared(async () => {
  const started = await startService(LotsModule);
  await createDeclared(started.dataSource, []);
  return started;
});

beforeAll(async () => {
  await service.load('brands', [{ brandID: 'cycles-tournevent', name: 'Cycles Tournevent' }]);
  await service.load('products', [
    { productID: 'p-000006', type: 'PHYSICAL', brandID: 'cycles-tournevent' },
  ]);
});

interface Sent {
  readonly answers: string;
  readonly url: string;
  readonly method: 'get' | 'options';
  readonly accept: string;
}

/** The lines of a part of a text. */
function linesOf(text: string, heading: string): string[] {
  const [, part = ''] = text.split(`\n## ${heading}\n\n`);
  return part.split('\n\n', 1)[0]?.trimEnd().split('\n') ?? [];
}

/** The requests of a text, each as a client reads it. */
function requestsIn(text: string): Sent[] {
  return linesOf(text, 'Requests').map((line) => {
    const [, answers = '', url = '', note = ''] = /^- \[(.+)\]\(([^ ()]+)\)(.*)$/.exec(line) ?? [];
    const [, accept = '*/*'] = /`Accept: (\S+)`/.exec(note) ?? [];
    return { answers, url, method: note.includes('`OPTIONS`') ? 'options' : 'get', accept };
  });
}

/** Sends the requests of the text for a client, and expects that none is refused. */
async function expectValid(client: Service): Promise<string> {
  const { text } = await client.get('/llms.txt').expect(200);
  for (const { answers, url, method, accept } of requestsIn(text)) {
    expect(answers).not.toBe('');
    const target = new URL(url, 'http://a/').href.slice('http://a'.length);
    const send = (form: string) =>
      client.anonymous()[method](target).set(client.headers).set('Accept', form);
    const { status, body } = await send('*/*');
    expect([url, status, body.result?.errcode, body.result?.msg]).toEqual([url, 200, '0', '']);
    if (accept !== '*/*') await send(accept).expect(200).expect('Content-Type', new RegExp(accept));
  }
  return text;
}

let created = 0;
function clientOf(of: Service, options: ClientOptions): Promise<Service> {
  created += 1;
  return of.newClient(`client-${created}`, options);
}

describe('/llms.txt', () => {
  it('has ten requests, one for each kind of question, and each is valid', async () => {
    const text = await expectValid(service);
    expect(requestsIn(text).map(({ url, method }) => [method, decodeURIComponent(url)])).toEqual([
      ['get', 'products?limit=0'],
      ['get', 'products?type=PHYSICAL&brandID=cycles-tournevent&limit=3'],
      ['get', 'products?priceMin=19.99&limit=3'],
      ['get', 'products?q=blue&sort=relevance&limit=3'],
      ['get', 'products?sort=-updatedAt&limit=3'],
      ['get', 'facets/products?facets=type,brandID&limit=3'],
      ['get', 'facets/products?facets=brandID&facetStarts=cy&limit=3'],
      ['get', 'products?productID=p-000006&include=brand,category,variants'],
      ['get', expect.stringMatching(/^products\?updatedSince=[\d-]+T12:00:00Z&limit=3$/)],
      ['options', 'products'],
    ]);
    const { body } = await service
      .get('/facets/products?facets=brandID&facetStarts=cy')
      .expect(200);
    expect(body.response_data.objects).toMatchObject([{ value: 'cycles-tournevent' }]);
  });

  it('has valid requests in a project of any resource', async () => {
    for (const resource of resourcesOf(others.dataSource).keys()) {
      const text = await expectValid(await clientOf(others, { resources: [resource] }));
      expect([resource, requestsIn(text).length]).toEqual([resource, expect.any(Number)]);
      for (const { url } of requestsIn(text)) expect(url.split(/[/?]/)).toContain(resource);
      expect(requestsIn(text).length).toBeGreaterThanOrEqual(4);
    }
    const text = await expectValid(lots);
    expect(requestsIn(text).map(({ url }) => url)).toEqual([
      'test_lots?limit=0',
      'test_lots?sort=lotID&limit=3',
      'facets/test_lots?facets=colour&limit=3',
      expect.stringMatching(/^test_lots\?updatedSince=/),
      'test_lots',
    ]);
    expect(text).not.toContain('products');
  });

  it('says what there is, where more is, and what a success and an error are', async () => {
    const { text, headers } = await service.anonymous().get('/llms.txt?nonsense=1').expect(200);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const [title, , summary] = text.split('\n');
    expect(title).toBe('# Catalogue');
    expect(summary).toMatch(/^> .*products,.* variants,.* categories,.* brands/);
    const { body } = await service.get('/products?colour=red').expect(400);
    expect(text).toContain(`\`${JSON.stringify(body)}\``);
    expect(text).toContain('`{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{');
    for (const [, path = ''] of linesOf(text, 'Documents')
      .join('\n')
      .matchAll(/\]\((\S+)\)/g))
      await service.anonymous().get(`/${path}`).expect(200);
    expect(text).not.toMatch(/[{}]\w+[{}]|undefined/);
  });

  it('names every field, filter, order, related object and count of each list', async () => {
    const { text } = await service.anonymous().get('/llms.txt').expect(200);
    const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
    const lines = linesOf(text, 'Resources').join('\n').split(/^- /m).slice(1);
    const urls = lines.map((each) => /\((\w+)\)/.exec(each)?.[1] ?? '');
    expect(urls).toEqual(expect.arrayContaining(['products', 'categories', 'brands', 'variants']));
    for (const [at, url] of urls.entries()) {
      const words = new Set(lines[at]?.match(/\w+/g));
      const { parameters } = document.paths[`/${url}`].get;
      const facets = document.paths[`/facets/${url}`]?.get.parameters ?? [];
      for (const { name, schema } of [...parameters, ...facets]) {
        if (!schema || ['limit', 'offset', 'after', 'bounds', 'facetStarts'].includes(name))
          continue;
        const isOfNames = ['fields', 'sort', 'include', 'facets'].includes(name);
        const names: string[] = isOfNames ? schema.items.enum : [name];
        const missing = names.filter(
          (each) => !each.includes('.') && !words.has(each.replace('-', '')),
        );
        expect([url, name, missing]).toEqual([url, name, []]);
      }
    }
  });

  it('has what a client may use', async () => {
    const hidden = ['products.price', 'products.brandID', 'products.updatedAt', 'products.refID'];
    const narrow = await clientOf(service, { resources: ['products'], hidden });
    const text = await expectValid(narrow);
    expect(text).not.toMatch(/price|brand|include=|variant|updated(At|Since)|refID|\bq\b/i);
    const whole = await service.anonymous().get('/llms.txt').expect(200);
    expect(whole.text).toContain('priceMin');
    await service.anonymous().get('/llms.txt?clientID=tester&access_token=x').expect(401);
  });

  it('names no whole list to a client whose token everybody can read', async () => {
    const text = await expectValid(await clientOf(service, { isPublic: true }));
    expect(text).not.toContain('ndjson');
    expect((await service.get('/llms.txt').expect(200)).text).toContain('ndjson');
  });
});

describe('/llms-full.txt', () => {
  it('has what applies to all, and each parameter and field with its meaning', async () => {
    const { text, headers } = await service.anonymous().get('/llms-full.txt').expect(200);
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
    expect(text).toContain(document.info.description.trim());
    for (const [path, schema] of [
      ['/products', 'Product'],
      ['/brands', 'Brand'],
    ] as const) {
      const [, section = ''] = text.split(`\n## GET ${path}\n`);
      const [own = ''] = section.split('\n## ', 1);
      for (const { name, description } of document.paths[path].get.parameters)
        if (name) expect(own).toContain(`\n- \`${name}\`: ${description}`);
      const { properties } = document.components.schemas[schema];
      for (const [name, { description }] of Object.entries<{ description: string }>(properties))
        expect(own).toContain(`\n- \`${name}\`: ${description}`);
    }
    expect(text).toContain(' Of `PHYSICAL`, `DIGITAL`, `SERVICE`.');
    expect(text).not.toContain('undefined`');
  });

  it('has what a client may use', async () => {
    const hidden = ['products.price'];
    const narrow = await clientOf(service, { resources: ['products'], hidden });
    const { text } = await narrow.get('/llms-full.txt').expect(200);
    const [, lists = ''] = text.split('\n## GET ');
    expect(text).not.toContain('## GET /brands');
    expect(lists).toContain('stockMin');
    expect(lists).not.toMatch(/[`,-]price/);
  });
});
