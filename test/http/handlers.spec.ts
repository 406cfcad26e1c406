import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  BadRequestException,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
  Logger,
  Module,
  Param,
  ParseIntPipe,
  Query,
  Req,
  UseGuards,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsInt, IsOptional, IsString, Length, Matches } from 'class-validator';
import { Readable } from 'node:stream';
import { Equal, Raw, Repository } from 'typeorm';
import type { CatalogueRequest } from '#server/http/request.js';
import {
  CredentialsQueryDto,
  IntegerParam,
  type Listing,
  ListModule,
  listOf,
  Meaning,
  ObjectQueryDto,
  type Page,
  QueryOf,
  Returns,
  TextParam,
} from '@catalogue/server';
import { Product } from '../../src/products/product.entity.js';
import { findViolations } from '#server/verify/verify.js';
import { callLists } from '#server/verify/called-lists.js';
import { ListPartsDto, Part, PARTS } from '../list/part.fixture.js';
import { logLines } from '../log-lines.js';
import { refusal, sharedService } from '../service.js';

/** What handlers return, by name. */
const RESULTS: Readonly<Record<string, () => unknown>> = {
  page: (): Page => ({ count: '7', objects: '[{"a":1},{"a":2}]' }),
  object: () => ({ best: true, at: new Date('2026-01-02T03:04:05.678Z'), none: null }),
  instance: () => Object.assign(new Part(), { partID: 'x', weight: 5 }),
  bare: () => Object.assign(Object.create(null) as object, { a: 1 }),
  list: () => [{ a: 1 }, new Part()],
  empty: () => [],
  later: () => Promise.resolve([{ a: 1 }]),
  text: () => 'text',
  number: () => 5,
  boolean: () => true,
  null: () => null,
  nothing: () => undefined,
  map: () => new Map([['a', 1]]),
  date: () => new Date(),
  bytes: () => Buffer.from('a'),
  stream: () => Readable.from(['a']),
  error: () => new Error('secret'),
  texts: () => [{ a: 1 }, 'text'],
  holes: () => new Array(2),
  lists: () => [[{ a: 1 }]],
  bigint: () => ({ a: 1n }),
  cycle: () => {
    const cycle: Record<string, unknown> = {};
    return Object.assign(cycle, { cycle });
  },
  disguised: () => ({ toJSON: () => 'text' }),
  'page of a number': () => ({ count: 2, objects: '[]' }),
  'page of objects': () => ({ count: '1', objects: [{ a: 1 }] }),
  'page of no JSON': () => ({ count: '1', objects: '[{' }),
  'page of texts': () => ({ count: '1', objects: '["a"]' }),
  'page of too few': () => ({ count: '0', objects: '[{}]' }),
};

@QueryOf(Part)
class TopPartsDto extends ObjectQueryDto {
  @IntegerParam('The number of parts.') most?: number;
}

class MakersDto extends CredentialsQueryDto {
  @TextParam('The makers whose name begins so.') begins?: string;
}

@QueryOf(Product, { include: ['brandID'] })
class TopProductsDto extends ObjectQueryDto {}

class SizedPath {
  @Length(1, 3) size!: string;
}

class Maker {
  @Meaning('The name of the maker.', 'Acme')
  @IsString()
  maker!: string;

  @Meaning('How many parts it makes.')
  @IsInt()
  parts!: number;

  @IsOptional() @IsString() since?: string | null;
}

class CountryPath {
  @Meaning('Where the makers are.', 'DE')
  @IsString()
  @Matches(/^[A-Z]{2}$/)
  country!: string;
}

@Controller('test_own')
class OwnController {
  constructor(@InjectRepository(Part) private readonly parts: Repository<Part>) {}

  @Get('top')
  top(@Query() { most }: TopPartsDto): Promise<Part[]> {
    return this.parts.find({ order: { weight: 'DESC' }, take: most ?? 2 });
  }

  @Get('heaviest')
  async heaviest(@Query() query: TopPartsDto): Promise<object | null> {
    const part = await this.parts.findOne({ where: {}, order: { weight: 'DESC' } });
    return query.most === 0 ? { partID: 'none' } : part;
  }

  @Get('page')
  page(@Query() { most }: TopPartsDto): Page {
    return { count: String(most ?? 9), objects: '[{"weight":1,"partID":"x"},{"partID":"y"}]' };
  }

  @Get('products')
  products(@Query() { include }: TopProductsDto): object[] {
    const brand = { name: 'Acme', brandID: 'b1' };
    return [
      { ...(include && { brand }), productID: 'p1', stock: 1 },
      { brand: null, productID: 'p2', stock: 2 },
    ];
  }

  @Get('makers')
  makers(@Query() { begins = '' }: MakersDto): object[] {
    return [{ maker: 'Acme', parts: 1 }].filter(({ maker }) => maker.startsWith(begins));
  }

  @Get('makers-of/:country')
  @Meaning('The makers of one country.')
  @Returns(Maker)
  makersOf(@Param() { country }: CountryPath, @Query() { begins = '' }: MakersDto): Maker[] {
    return [{ maker: `${begins} ${country}`, parts: 1 }];
  }

  @Get('result/:name')
  result(@Param('name') name: string): unknown {
    return RESULTS[name]?.();
  }

  @Get('throws/:status')
  throws(@Param('status', ParseIntPipe) status: number): never {
    throw new HttpException('It is not so', status);
  }

  @Get('sized/:size')
  sized(@Param() { size }: SizedPath): object {
    return { size };
  }

  @Get('says/:what')
  says(@Param('what') what: string): never {
    if (what === 'several') throw new BadRequestException(['One', 'two']);
    if (what === 'nothing') throw new ForbiddenException('');
    if (what === 'error') throw new HttpException(new Error('secret'), 409);
    throw new HttpException({ half: what }, 422);
  }

  @Get('guarded')
  @UseGuards({ canActivate: () => false })
  guarded(): object {
    return {};
  }

  @Get('of/:makerID')
  ofMaker(@Param('makerID') makerID: string, @Query() query: ListPartsDto): Listing {
    if (typeof makerID !== 'string') throw new Error('It was not called as Nest does');
    return listOf(this.parts, query, CONDITIONS);
  }

  @Get('since/:day')
  since(@Param('day') day: string, @Query() query: ListPartsDto): Listing {
    return listOf(this.parts, Object.assign(query, { weightText: day }), {
      ...CONDITIONS,
      weightText: () => ({ weight: Raw(() => 'CAST(:day AS date) IS NOT NULL', { day }) }),
    });
  }

  @Get('weighing/:weight')
  weighing(@Param('weight') weight: string, @Query() query: ListPartsDto): Listing {
    return listOf(this.parts, Object.assign(query, { weightText: weight }), {
      ...CONDITIONS,
      weightText: (text) => ({ weight: Equal(text as never) }),
    });
  }

  @Get('asked')
  asked(@Req() request: CatalogueRequest, @Query() query: ListPartsDto): Listing {
    if (request.client === undefined) throw new Error('There is no client');
    return listOf(this.parts, query, CONDITIONS);
  }
}

const none = () => ({});
const CONDITIONS = {
  weightMin: none,
  makerName: none,
  makerNameNot: none,
  makerByView: none,
  makerByFunction: none,
  makerOrAny: none,
  now: none,
  weightText: none,
  weightTexts: none,
  weightOrMaker: none,
};

@Module({ imports: [ListModule.forFeature(Part)], controllers: [OwnController] })
class OwnModule {}

const service = sharedService({}, OwnModule);

beforeAll(async () => {
  await service.dataSource.query(PARTS);
});
afterEach(() => {
  jest.restoreAllMocks();
});

const path = (name: string) => `/test_own/result/${encodeURIComponent(name)}`;

describe('A handler of one’s own', () => {
  it.each([
    ['page', { count: '7', objects: [{ a: 1 }, { a: 2 }] }],
    [
      'object',
      { count: '1', objects: [{ best: true, at: '2026-01-02T03:04:05.678Z', none: null }] },
    ],
    ['instance', { count: '1', objects: [{ partID: 'x', weight: 5 }] }],
    ['bare', { count: '1', objects: [{ a: 1 }] }],
    ['list', { count: '2', objects: [{ a: 1 }, {}] }],
    ['empty', { count: '0', objects: [] }],
    ['later', { count: '1', objects: [{ a: 1 }] }],
  ])('may answer with: %s', async (name, expected) => {
    const { body } = await service.get(path(name)).expect(200);
    expect(body).toEqual({
      result: { status: 'OK', errcode: '0', msg: '' },
      response_data: expected,
    });
  });

  it.each([
    ['text', 'a string'],
    ['number', 'a number'],
    ['boolean', 'a boolean'],
    ['null', 'null'],
    ['nothing', 'nothing'],
    ['map', 'an object of the class Map'],
    ['date', 'an object of the class Date'],
    ['bytes', 'an object of the class Buffer'],
    ['stream', 'an object of the class Readable'],
    ['error', 'an object of the class Error'],
    ['texts', 'a list with a string'],
    ['holes', 'a list of what has no JSON'],
    ['lists', 'a list with a list of what has no JSON'],
    ['disguised', 'an object of the class Object'],
    ['bigint', 'what JSON cannot say: Do not know how to serialize a BigInt'],
    ['cycle', 'what JSON cannot say: Converting circular structure to JSON'],
    ...['of a number', 'of objects', 'of no JSON', 'of texts', 'of too few'].map((what) => [
      `page ${what}`,
      'count and objects that are no Page',
    ]),
  ])('that answers with %s is a fault, which the log names', async (name, kind) => {
    const logged = logLines('error');
    await service.get(path(name)).expect(500, refusal(-1, 'Internal error'));
    expect(logged[0]).toContain(
      ` GET /test_own/result/:name -1: OwnController.result answers with ${kind}`,
    );
    expect(logged.join()).not.toContain('secret');
  });

  it.each([
    [400, -27, 400, 'It is not so'],
    [401, -11, 401, 'The credentials are not valid'],
    [402, -27, 402, 'It is not so'],
    [403, -15, 403, 'It is not so'],
    [404, -31, 404, 'It is not so'],
    [405, -32, 405, 'It is not so'],
    [406, -27, 406, 'It is not so'],
    [409, -35, 409, 'It is not so'],
    [410, -36, 410, 'It is not so'],
    [412, -27, 412, 'It is not so'],
    [414, -34, 414, 'The request is too large'],
    [415, -27, 415, 'It is not so'],
    [418, -27, 418, 'It is not so'],
    [422, -37, 422, 'It is not so'],
    [429, -40, 429, 'It is not so'],
    [431, -34, 431, 'The request is too large'],
    [451, -27, 451, 'It is not so'],
    [302, -1, 500, 'Internal error'],
    [500, -1, 500, 'Internal error'],
    [501, -1, 500, 'Internal error'],
    [502, -2, 503, 'The service is temporarily unavailable'],
    [503, -2, 503, 'The service is temporarily unavailable'],
    [504, -3, 503, 'The request took too long'],
  ])('that throws an HttpException of %i gets %i', async (thrown, errcode, status, msg) => {
    const logged = logLines('error');
    const { body, headers } = await service.get(`/test_own/throws/${thrown}`).expect(status);
    expect(body).toEqual(refusal(errcode, msg));
    expect([thrown, headers['retry-after'] !== undefined]).toEqual([
      thrown,
      [429, 502, 503, 504].includes(thrown),
    ]);
    expect(headers.allow).toBe(thrown === 405 ? 'GET, HEAD, OPTIONS' : undefined);
    // A refusal is no fault.
    if (status < 500) expect(logged).toEqual([]);
    if (status === 500) expect(logged).not.toEqual([]);
  });

  it.each([
    ['several', 400, refusal(-27, 'One; two')],
    ['nothing', 403, refusal(-15, 'Forbidden')],
    ['error', 409, refusal(-35, 'Conflict')],
    ['x', 422, refusal(-37, 'Unprocessable Entity')],
  ])('says the reason of an exception: %s', async (what, status, expected) => {
    await service.get(`/test_own/says/${what}`).expect(status, expected);
  });

  it('may have pipes and guards of Nest', async () => {
    await service
      .get('/test_own/throws/x')
      .expect(400, refusal(-27, 'Validation failed (numeric string is expected)'));
    await service.get('/test_own/guarded').expect(403, refusal(-15, 'Forbidden resource'));
    await service.get('/test_own/sized/XL').expect(200);
    await service
      .get('/test_own/sized/XXXL')
      .expect(400, refusal(-27, 'size must be shorter than or equal to 3 characters'));
  });

  it('is described with what it may answer', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const statuses = (name: string) => Object.keys(body.paths[name].get.responses);
    expect(statuses('/test_own/result/{name}')).toEqual([
      ...['200', '400', '401', '403', '404', '409', '410', '414', '422', '429', '431'],
      ...['500', '503'],
    ]);
    expect(statuses('/test_own/guarded')).toContain('403');
    const { content } = body.paths['/test_own/result/{name}'].get.responses[200];
    const { properties } = content['application/json'].schema;
    expect(Object.keys(properties)).toEqual(['result', 'response_data']);
    expect(
      Object.keys(body.components.responses.Conflict.content['application/json'].examples),
    ).toEqual(['-35']);
  });
});

describe('A handler of one’s own with declarations', () => {
  const path = '/test_own/makers-of/{country}';

  it('is described by its meaning, its parameters and the class that it returns, with examples', async () => {
    await service.get('/test_own/makers-of/DE?begins=A').expect(200);
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { get } = body.paths[path];
    expect([get.summary, get.description]).toEqual([
      'The makers of one country',
      'The makers of one country. Any other parameter is refused with `-23`.',
    ]);
    expect(get.parameters).toEqual([
      {
        name: 'country',
        in: 'path',
        required: true,
        description: 'Where the makers are.',
        schema: { type: 'string', pattern: '^[A-Z]{2}$' },
        example: 'DE',
      },
      expect.objectContaining({
        name: 'begins',
        in: 'query',
        description: 'The makers whose name begins so.',
      }),
    ]);
    const { schema, example } = get.responses[200].content['application/json'];
    expect(schema.properties.response_data.properties.objects.items).toEqual({
      type: 'object',
      properties: {
        maker: { type: 'string', description: 'The name of the maker.', examples: ['Acme'] },
        parts: expect.objectContaining({
          type: 'integer',
          description: 'How many parts it makes.',
        }),
        since: { type: ['string', 'null'] },
      },
      required: ['maker', 'parts'],
    });
    expect(example.response_data).toEqual({
      count: '1',
      objects: [{ maker: 'Acme', parts: 1, since: 'a' }],
    });
  });

  it('is described in OPTIONS by its parameters', async () => {
    const { body } = await service
      .anonymous()
      .options('/test_own/makers-of/DE')
      .set(service.headers)
      .expect(200);
    expect(body.response_data.objects).toContainEqual(
      expect.objectContaining({
        name: 'begins',
        type: 'string',
        meaning: 'The makers whose name begins so.',
      }),
    );
  });
});

describe('The fields of a handler of one’s own', () => {
  it.each([
    ['top?fields=partID', '2', [{ partID: 'c' }, { partID: 'b' }]],
    ['top?fields=weight,partID&most=1', '1', [{ partID: 'c', weight: 3 }]],
    ['top?most=1', '1', [{ partID: 'c', makerID: null, weight: 3 }]],
    ['heaviest?fields=weight', '1', [{ weight: 3 }]],
    // What it does not give is null, as it is in a list.
    ['heaviest?most=0&fields=weight,makerID', '1', [{ makerID: null, weight: null }]],
    [
      'page?fields=weight,partID',
      '9',
      [
        { partID: 'x', weight: 1 },
        { partID: 'y', weight: null },
      ],
    ],
    ['page?fields=partID&most=2', '2', [{ partID: 'x' }, { partID: 'y' }]],
    [
      'products?fields=productID,brand.name&include=brand',
      '2',
      [
        { productID: 'p1', brand: { name: 'Acme' } },
        { productID: 'p2', brand: null },
      ],
    ],
    [
      'products?fields=productID&include=brand',
      '2',
      [
        { productID: 'p1', brand: { name: 'Acme', brandID: 'b1' } },
        { productID: 'p2', brand: null },
      ],
    ],
  ])(
    'are those that the request names, in the order of the resource: %s',
    async (query, count, objects) => {
      const { body } = await service.get(`/test_own/${query}`).expect(200);
      expect(JSON.stringify(body.response_data)).toBe(JSON.stringify({ count, objects }));
    },
  );

  it('are refused as those of a list', async () => {
    await service
      .get('/test_own/top?fields=colour')
      .expect(
        400,
        refusal(
          -25,
          'The parameter fields must not name colour; it may name partID, makerID, weight',
        ),
      );
  });

  it('do not exist for a query class of parameters alone', async () => {
    const { body } = await service.get('/test_own/makers?begins=A').expect(200);
    expect(body.response_data).toEqual({ count: '1', objects: [{ maker: 'Acme', parts: 1 }] });
    await service
      .get('/test_own/makers?fields=maker')
      .expect(400, refusal(-23, 'The parameter fields must not be present in this request'));
    const { body: document } = await service.anonymous().get('/openapi.json').expect(200);
    const { parameters } = document.paths['/test_own/makers'].get;
    expect(parameters.map(({ name }: { name: string }) => name)).toEqual(['begins']);
  });
});

describe('A list whose handler takes more than the query', () => {
  it('is called as Nest does: with the parameters of its path in their places', async () => {
    await service.get('/test_own/of/m1?limit=0').expect(200);
    const { lists, problems } = await callLists(service.application);
    const own = lists.filter(({ metadata }) => metadata.target === Part);
    expect(own.map(({ parameter }) => parameter)).toContain('weightMin');
    expect(problems).not.toContainEqual(expect.stringContaining('/test_own/of/'));
  });

  it('is told if PostgreSQL refuses the statement, and does not stop verify', async () => {
    await service.get('/test_own/since/2026-11-21?limit=0').expect(200);
    expect(await findViolations(service.application)).toContain(
      'the list of test_parts with weightMin fails: invalid input syntax for type date: "1"',
    );
  });

  it('is an internal error if it compares a column with what its type does not have', async () => {
    await service.get('/test_own/weighing/5?limit=0').expect(200);
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await service.get('/test_own/weighing/heavy').expect(500, refusal(-1, 'Internal error'));
    expect(logged.mock.calls.flat()).toContainEqual(
      expect.stringContaining(
        'ListPartsDto compares Part.weight, of type integer, with heavy: @SignedIntegerParam or @IntegersParam fits',
      ),
    );
    logged.mockRestore();
  });

  it('is told if it fails without a request, and does not stop verify', async () => {
    await service.get('/test_own/asked?limit=0').expect(200);
    expect(await findViolations(service.application)).toContain(
      'the list at /test_own/asked fails for the example of sort: ' +
        `Cannot read properties of undefined (reading 'client')`,
    );
  });
});
