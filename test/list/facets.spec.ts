import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Header,
  Logger,
  Module,
  type NestInterceptor,
  type PipeTransform,
  Query,
  UseInterceptors,
} from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { IsDefined, Length } from 'class-validator';
import type { Response } from 'express';
import { map, type Observable } from 'rxjs';
import { Column, type FindOptionsWhere, Like, Not, PrimaryColumn, Raw, Repository } from 'typeorm';
import { primaryPool } from '#server/private-api/database.js';
import type { CatalogueRequest } from '#server/http/request.js';
import { type Endpoint, endpointsOf } from '#server/http/endpoints.js';
import { separableValue } from '#server/http/parameters/declared-parameters.js';
import { facetEndpoints } from '#server/list/facets/facet-endpoints.js';
import {
  BooleanParam,
  identifierColumn,
  IdentifiersParam,
  IntegerParam,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  nameColumn,
  QueryOf,
  Resource,
  TextParam,
  TextsParam,
} from '@catalogue/server';
import { sentStatements } from '../sent-statements.js';
import { refusal } from '../service.js';
import { shared } from '#server/testing/shared.js';
import { startWith } from './migrated.js';
import { until } from '../until.js';
import {
  compareFacets,
  compares,
  equals,
  type PlainRequest,
  type PlainResource,
} from '#server/testing/oracle.js';

/** A resource with counted texts, a hidden counted column, and filters with conditions of their own. */
@Resource('test_lamps', {
  counted: ['colour', 'shade', 'glow', ['colour', 'shade'], ['shade', 'glow', 'colour']],
  filtered: ['colour', 'shade'],
})
class Lamp {
  @PrimaryColumn(identifierColumn)
  lampID!: string;

  @Column({ type: 'boolean', nullable: true, select: false })
  glow!: boolean | null;

  @Column({ ...nameColumn, nullable: true })
  shade!: string | null;

  @Column(nameColumn)
  colour!: string;

  @Column({ type: 'integer' })
  watts!: number;
}

@QueryOf(Lamp, { sort: ['lampID'] })
class ListLampsDto extends ListQueryDto {
  @TextsParam('The lamps of these colours.') colour?: string[];
  @TextParam('The lamps with this shade.') shade?: string;
  @BooleanParam('The lamps that glow, or that do not.') glow?: boolean;
  @IdentifiersParam('The lamps with these identifiers.') lampID?: string[];
  @IntegerParam('The lamps of at least so many watts.') wattsMin?: number;
  @IntegerParam('The lamps of at most so many watts.') wattsMax?: number;
  @TextParam('The lamps of other colours.') colourNot?: string;
  @TextParam('The lamps of this colour and shade.') both?: string;
  @TextParam('The lamps of this colour or shade.') either?: string;
  @TextParam('The lamps of colours with this length, and the text "$1 a".') inSQL?: string;
  @TextParam('All lamps, at any time.') now?: string;
  @Length(3, 3) @TextParam('The lamps whose colour begins so.') begins?: string;
}

/** Says what the handler returned, and returns something else if the request says so. */
const interceptor: NestInterceptor = {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const http = context.switchToHttp();
    return next.handle().pipe(
      map((result: object) => {
        http.getResponse<Response>().setHeader('X-Returned', result.constructor.name);
        const instead = http.getRequest<CatalogueRequest>().headers['x-instead'];
        if (instead === 'error') throw new ForbiddenException('Not now');
        return instead === undefined ? result : {};
      }),
    );
  },
};

/** What the handler was called with last. */
let handed: ListLampsDto | undefined;

/** Filters by another shade than that of the request. */
const pipe: PipeTransform = {
  transform: (query: ListLampsDto) =>
    Object.assign(query, query.shade === 'piped' && { shade: 'a' }),
};

@Controller('test_lamps')
class LampsController {
  constructor(@InjectRepository(Lamp) private readonly lamps: Repository<Lamp>) {}

  @Get()
  @UseInterceptors(interceptor)
  @Header('X-Lamps', 'yes')
  list(@Query(pipe) query: ListLampsDto): Listing {
    // What a handler may rely on.
    if (!(query instanceof ListLampsDto)) throw new Error('Another class');
    handed = query;
    return listOf(this.lamps, query, {
      colourNot: (colour) => ({ colour: Not(colour) }),
      both: (text) => ({ colour: text, shade: text }),
      either: (text) => [{ colour: text }, { shade: text }] as FindOptionsWhere<Lamp>,
      inSQL: (length) => ({
        colour: Raw((column) => `'$' || '1 a' = '$1 a' AND length(${column}) = :length`, {
          length: Number(length),
        }),
      }),
      now: () => ({ watts: Raw(() => `now() > '-infinity'`) }),
      begins: (text) => ({ colour: Like(`${text}%`) }),
    });
  }
}

@Module({ imports: [ListModule.forFeature(Lamp)], controllers: [LampsController] })
class LampsModule {}

/** Values that stand in names of facets, in JSON and in SQL. */
const COLOURS = [
  'a',
  'a,b',
  "it's",
  '"red"',
  '5:aa',
  'colour=a',
  'ä🌳',
  '\u{10ffff}',
  '\ud7ff',
  '\ue000',
  'b',
  'b+',
  'A',
  '',
];
const SHADES = [
  null,
  'a',
  '1:a',
  'ä🌳',
  '\u{10ffff}',
  '\u{10ffff}\u{10ffff}',
  "'; --",
  '\\',
  'long '.repeat(90),
  '',
];

const lamps = Array.from({ length: 400 }, (_, at) => ({
  lampID: `l${at}`,
  colour: COLOURS[Math.floor((at % 27) / 2) % COLOURS.length] ?? '',
  shade: SHADES[at % SHADES.length] ?? null,
  glow: [true, true, false, null][at % 4] ?? null,
  watts: at % 50,
}));

const FIELDS = ['shade', 'colour', 'glow'];

const LAMPS: PlainResource = {
  path: '/test_lamps',
  table: 'test_lamps',
  identifier: 'lampID',
  sorts: [],
  filters: {
    colour: equals('colour', COLOURS),
    shade: equals('shade', []),
    glow: equals('glow', ['true', 'false']),
    lampID: equals('lampID', []),
    wattsMin: compares('watts', '>=', () => '10'),
    wattsMax: compares('watts', '<=', () => '20'),
    colourNot: compares('colour', '<>', () => 'a'),
    either: {
      columns: ['colour', 'shade'],
      sample: () => 'a',
      keeps: (value) => `colour = '${value}' OR shade = '${value}'`,
    },
  },
};

const service = shared(() => startWith(LampsModule));

beforeAll(async () => {
  await service.dataSource.query(
    `INSERT INTO test_lamps SELECT * FROM json_populate_recordset(NULL::test_lamps, $1)`,
    [JSON.stringify(lamps)],
  );
});

const facets = async (query = '') =>
  (await service.get(`/facets/test_lamps?${query}`).expect(200)).body.response_data;

/** Compares facet counts with plain SQL, of the same parameters or of others that mean the same. */
async function compare(sent: PlainRequest, same = sent, fields = FIELDS): Promise<void> {
  const limit = sent.limit ?? '1000';
  const meaning = { ...same, limit };
  await compareFacets(service, LAMPS, fields, { ...sent, limit }, { same: meaning });
}

describe('Facet counts', () => {
  it('are in the order of the fields, hidden ones last, then of the count, then of the value', async () => {
    await compare({});
  });

  it('ignore the filters on the field itself, and no other', async () => {
    for (const colour of COLOURS) {
      if (colour !== '') await compare({ colour: separableValue(colour) });
    }
    for (const shade of SHADES) {
      if (!shade) continue;
      await compare({ shade });
      await compare({ shade, colour: 'a,ä🌳,nothing' });
    }
  });

  it('look up each value if there are many objects', async () => {
    await service.dataSource.query(
      `INSERT INTO test_lamps
       SELECT 'many' || i, NULL, 'grey', ($1::text[])[1 + i % $2], 1 FROM generate_series(1, 5000) i`,
      [COLOURS, COLOURS.length],
    );
    await compare({ shade: 'grey', facets: 'colour' }, { shade: 'grey' }, ['colour']);
    await service.dataSource.query(`DELETE FROM test_lamps WHERE "lampID" LIKE 'many%'`);
    // Their facets are still there, and have no object.
    await compare({});
  });

  it('look up each value between two others if there are many objects', async () => {
    await service.dataSource.query(
      `INSERT INTO test_lamps
       SELECT 'many' || i, i % 3 = 0, 'ä🌳', 'ä🌳', 1 FROM generate_series(1, 500) i`,
    );
    const values = { shade: 'ä🌳', colour: 'ä🌳' };
    await compare({ ...values, facets: 'glow' }, values, ['glow']);
    await service.dataSource.query(`DELETE FROM test_lamps WHERE "lampID" LIKE 'many%'`);
  });

  it.each<PlainRequest[]>([
    [{ glow: 'true' }],
    [{ glow: 'true', shade: 'a' }],
    [{ glow: 'true', shade: 'ä🌳', colour: 'a,ä🌳' }],
    [{ wattsMin: '10', wattsMax: '20' }],
    [{ lampID: 'l1,l2,l3' }],
    [{ colourNot: 'a' }],
    [{ both: 'a' }, { colour: 'a', shade: 'a' }],
    [{ either: 'a' }],
    [
      { inSQL: '1', wattsMin: '7', shade: 'a', colour: 'b' },
      { wattsMin: '7', shade: 'a', colour: 'b' },
    ],
    [{ begins: "it'" }, { colour: "it's" }],
  ])('have the conditions of the list for %j', async (...requests) => {
    await compare(...(requests as [PlainRequest, PlainRequest?]));
  });

  it('leave out what has no match, and are empty if nothing has', async () => {
    expect(await facets('lampID=none')).toEqual({ count: '0', objects: [] });
    const { objects } = await facets('colour=none&facets=shade,glow');
    expect(objects).toEqual([]);
  });

  it('have at most so many values of each field as limit says, and count all of them', async () => {
    for (const limit of ['0', '1', '3']) await compare({ limit });
  });

  it('are of the fields that facets names, in their own order', async () => {
    await compare({ facets: ' glow,shade,glow' }, {}, ['shade', 'glow']);
  });

  it.each([
    ['facets=', -22, 'The parameter facets must be names of fields, separated by commas'],
    ['facets=shade,', -22, 'The parameter facets must be names of fields, separated by commas'],
    [
      'facets=watts',
      -25,
      'The parameter facets must not name watts; it may name shade, colour, glow',
    ],
    ['nonsense=1', -23, 'The parameter nonsense must not be present in this request'],
    ['limit=1&limit=1', -24, 'The parameter limit must be given only once'],
    ['limit=1001', -26, 'The parameter limit must be between 0 and 1000'],
    ['limit=x', -22, 'The parameter limit must be a plain decimal integer'],
    ['wattsMin=x', -22, 'The parameter wattsMin must be a plain decimal integer'],
    ['begins=four', -22, 'The parameter begins must be shorter than or equal to 3 characters'],
  ])('refuse %s', async (query, errcode, message) => {
    await service.get(`/facets/test_lamps?${query}`).expect(400, refusal(errcode, message));
  });

  it('are the envelope, also for clients that prefer a stream', async () => {
    for (const type of ['text/csv', 'application/x-ndjson']) {
      const response = await service.get('/facets/test_lamps').set('Accept', type).expect(200);
      expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
      expect(response.headers.link).toBeUndefined();
    }
  });

  it('are answered 304, and from memory, until an object changes', async () => {
    const path = '/facets/test_lamps?wattsMin=49&limit=1';
    const first = await service.get(path).expect(200);
    const { etag } = first.headers;
    expect(etag).toMatch(/^W\/"[^"]+"$/);
    const pool = primaryPool(service.dataSource);
    const query = jest.spyOn(pool, 'query');
    await service
      .get(path)
      .set('If-None-Match', etag ?? '')
      .expect(304);
    const again = await service.get(path).expect(200);
    expect(again.body).toEqual(first.body);
    const texts = sentStatements(query).map(({ text }) => text);
    expect(texts).toEqual(
      [1, 2].map(() => expect.stringMatching(/^SELECT \(SELECT resource_version\(/)),
    );
    query.mockRestore();
    const tags = await Promise.all(
      ['', '?limit=1', '?facets=shade', '?shade=a', '?shade=1:a', '?wattsMin=1'].map(
        async (each) => (await service.get(`/facets/test_lamps${each}`)).headers.etag,
      ),
    );
    expect(new Set(tags).size).toBe(tags.length);
    await service.dataSource.query(`INSERT INTO test_lamps VALUES ('new', true, 'x', 'y', 49)`);
    const changed = await service
      .get(path)
      .set('If-None-Match', etag ?? '')
      .expect(200);
    expect(changed.headers.etag).not.toBe(etag);
    await service.dataSource.query(`DELETE FROM test_lamps WHERE "lampID" = 'new'`);
  });

  it('have no tag if the list depends on more than its resource', async () => {
    const { headers } = await service.get('/facets/test_lamps?now=x').expect(200);
    expect(headers.etag).toBeUndefined();
    await compare({ now: 'x' }, {});
  });

  it('read the objects in an index alone where the tally does not have the counts', async () => {
    await service.dataSource.query(
      `CREATE INDEX ON test_lamps (watts) INCLUDE (colour, shade, glow)`,
    );
    // VACUUM does not mark pages as visible to all while a job of the service has a transaction open.
    await until(async () => {
      await service.dataSource.query('VACUUM (ANALYZE) test_lamps');
      const [{ isVisible } = { isVisible: false }] = await service.dataSource.query<
        { isVisible: boolean }[]
      >(
        `SELECT relallvisible = relpages AS "isVisible" FROM pg_class WHERE relname = 'test_lamps'`,
      );
      return isVisible;
    });
    const pool = primaryPool(service.dataSource);
    const query = jest.spyOn(pool, 'query');
    await facets('wattsMin=49&wattsMax=49');
    const [{ text, values } = { text: '', values: [] }] = sentStatements(query);
    query.mockRestore();
    const plan = await service.dataSource.query<Record<'QUERY PLAN', string>[]>(
      `EXPLAIN ${text}`,
      values,
    );
    const lines = plan
      .map(({ 'QUERY PLAN': line }) => line)
      .filter((line) => line.includes('test_lamps'));
    // One scan for all three fields.
    expect(lines.filter((line) => / on test_lamps\b/.test(line))).toEqual([
      expect.stringContaining('Index Only Scan'),
    ]);
  });
});

describe('The handler of a list, for its facet counts', () => {
  const path = '/facets/test_lamps?facets=colour&limit=1';

  it('has its headers and its interceptors, which see the list', async () => {
    const { headers } = await service.get(path).expect(200);
    expect(headers).toMatchObject({ 'x-lamps': 'yes', 'x-returned': 'Listing' });
    await service.get(path).set('X-Instead', 'error').expect(403, refusal(-15, 'Not now'));
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await service.get(path).set('X-Instead', 'x').expect(500, refusal(-1, 'Internal error'));
    expect(String(logged.mock.calls[0]?.[0])).toContain(
      ' GET /facets/test_lamps -1: The list of test_lamps is no Listing, so its facets cannot be counted',
    );
    logged.mockRestore();
  });

  it('has its pipes, and gets the filters alone', async () => {
    await compare({ shade: 'piped' }, { shade: 'a' });
    expect(handed).toEqual(Object.assign(new ListLampsDto(), { shade: 'a' }));
  });
});

describe('A resource with counted columns', () => {
  @Resource('test_unlisted', { counted: ['kind'] })
  class Unlisted {
    @PrimaryColumn(identifierColumn)
    unlistedID!: string;

    @Column(nameColumn)
    kind!: string;
  }

  it('has no filter that is called facets', () => {
    @QueryOf(Unlisted)
    class ListUnlistedDto extends ListQueryDto {
      @IsDefined() @TextParam('Whatever.') facets?: string;
    }
    const [endpoint] = endpointsOf(service.application);
    const list = { ...endpoint, path: '/test_unlisted', query: ListUnlistedDto } as Endpoint;
    expect(() => facetEndpoints([list])).toThrow(
      `${ListUnlistedDto.name} has a filter facets, a parameter of the facet counts`,
    );
  });
});
