import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Controller, Get, Injectable, Logger, Module, Param, Query } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { getRepositoryToken, InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { readFile } from 'node:fs/promises';
import { Column, DataSource, Entity, PrimaryColumn, Repository } from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import { BrandsService } from '../../src/brands/brands.service.js';
import { GetBrandDto, ListBrandsDto } from '../../src/brands/list-brands.dto.js';
import {
  type Listing,
  ListModule,
  listOf,
  ListReader,
  type ObjectLookup,
  objectOf,
} from '@catalogue/server';
import { callLists } from '#server/verify/called-lists.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { refusal, type Service, startService } from '../service.js';
import { fencesOf } from './markdown.js';

// The examples of docs/resources.md, as they stand there.

@Injectable()
export class BrandNames {
  constructor(
    private readonly brands: BrandsService,
    private readonly lists: ListReader,
  ) {}

  async of(brandID: string[]): Promise<unknown[]> {
    const query = Object.assign(new ListBrandsDto(), { brandID, limit: 1000 });
    const objects = await this.lists.objects(this.brands.list(query));
    return objects.map(({ name }) => name);
  }
}

@Injectable()
export class NewestBrand {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  async name(): Promise<string> {
    const newest = await this.brands.findOne({ where: {}, order: { createdAt: 'DESC' } });
    return newest?.name ?? 'none';
  }
}

it('names the newest brand', async () => {
  const brands = { findOne: () => Promise.resolve({ name: 'Acme' }) };
  const testing = await Test.createTestingModule({
    providers: [NewestBrand, { provide: getRepositoryToken(Brand), useValue: brands }],
  }).compile();
  expect(await testing.get(NewestBrand).name()).toBe('Acme');
});

@Entity('levels')
export class Level {
  @PrimaryColumn('text')
  productID!: string;

  @Column('integer')
  pieces!: number;
}

@Controller('levels')
export class LevelsController {
  constructor(@InjectRepository(Level, 'stock') private readonly levels: Repository<Level>) {}

  @Get(':productID')
  of(@Param('productID') productID: string): Promise<Level[]> {
    return this.levels.findBy({ productID });
  }
}

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      name: 'stock',
      useFactory: () => ({
        type: 'postgres',
        url: process.env.STOCK_DATABASE_URL,
        entities: [Level],
      }),
    }),
    TypeOrmModule.forFeature([Level], 'stock'),
  ],
  controllers: [LevelsController],
})
export class LevelsModule {}

// What they do.

@Module({
  imports: [ListModule.forFeature(Brand)],
  providers: [BrandsService, BrandNames],
})
class NamesModule {}

@Controller('test_elsewhere')
class ElsewhereController {
  constructor(@InjectRepository(Brand, 'elsewhere') private readonly brands: Repository<Brand>) {}

  @Get()
  list(@Query() query: ListBrandsDto): Listing {
    return listOf(this.brands, query);
  }

  @Get(':brandID')
  get(@Param('brandID') brandID: string, @Query() query: GetBrandDto): ObjectLookup {
    return objectOf(this.brands, brandID, query);
  }
}

@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      name: 'elsewhere',
      useFactory: () => ({
        type: 'postgres',
        url: process.env.STOCK_DATABASE_URL,
        entities: [Brand],
      }),
    }),
    TypeOrmModule.forFeature([Brand], 'elsewhere'),
  ],
  controllers: [ElsewhereController],
})
class ElsewhereModule {}

let service: Service;
let stock: TestDatabase;

beforeAll(async () => {
  stock = await createDatabase();
  process.env.STOCK_DATABASE_URL = stock.url;
  const other = await new DataSource({ type: 'postgres', url: stock.url }).initialize();
  await other.query('CREATE TABLE levels ("productID" text PRIMARY KEY, pieces integer NOT NULL)');
  await other.query(`INSERT INTO levels VALUES ('p', 5)`);
  await other.destroy();
  service = await startService({}, NamesModule, LevelsModule, ElsewhereModule);
});
afterAll(async () => {
  delete process.env.STOCK_DATABASE_URL;
  await service.stop();
  await stock.drop();
});

it('Every example is code that a test runs', async () => {
  const normal = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const { fences } = fencesOf(await readFile('docs/resources.md', 'utf8'));
  const specs = await Promise.all(
    ['own-code', 'nest'].map((name) => readFile(`test/docs/${name}.spec.ts`, 'utf8')),
  );
  const held = normal(specs.join());
  const headings = ['Read rows in your own code', 'Test a service', 'A second database'];
  for (const heading of headings) {
    const examples = fences.filter((fence) => fence.heading === heading);
    expect([heading, examples.length > 0]).toEqual([heading, true]);
    for (const { text } of examples) expect(held).toContain(normal(text));
  }
});

it('The objects of a list are read in one call', async () => {
  await service.load('brands', [
    { brandID: 'a', name: 'Acme' },
    { brandID: 'b', name: 'Best' },
    { brandID: 'c', name: 'Cord' },
  ]);
  expect(await service.application.get(BrandNames).of(['a', 'c'])).toEqual(['Acme', 'Cord']);
});

it('A second database is read by a handler of one’s own', async () => {
  const { body } = await service.get('/levels/p').expect(200);
  expect(body.response_data).toEqual({ count: '1', objects: [{ productID: 'p', pieces: 5 }] });
});

it('A list of a second database is an error, and told by verify', async () => {
  const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  for (const path of ['/test_elsewhere', '/test_elsewhere/a']) {
    await service.get(path).expect(500, refusal(-1, 'Internal error'));
  }
  const problem = 'Brand is of another database: lists are read from that of the service';
  expect(logged.mock.calls.flat()).toContainEqual(expect.stringContaining(problem));
  logged.mockRestore();
  const { problems } = await callLists(service.application);
  expect(problems).toEqual([
    `ElsewhereController.list: ${problem}`,
    `ElsewhereController.get: ${problem}`,
  ]);
});
