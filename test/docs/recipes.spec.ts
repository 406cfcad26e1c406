import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { Column, ForeignKey, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { Category } from '../../src/categories/category.entity.js';
import {
  children,
  containsWords,
  DecimalParam,
  identifierColumn,
  IdentifiersParam,
  ListQueryDto,
  nameColumn,
  QueryOf,
  Resource,
  TextsParam,
  timeColumn,
  WordsParam,
} from '@catalogue/server';
import { Product } from '../../src/products/product.entity.js';
import { startWith } from '../list/migrated.js';
import type { Service } from '../service.js';
import { fencesOf } from './markdown.js';
import { controllerOf, resourceModule } from '../list/resource-module.js';

// The examples of docs/recipes.md, as they stand there.

@Resource('offers', {
  counted: ['buyerID', 'categoryID', ['buyerID', 'categoryID']],
  filtered: ['buyerID', 'categoryID', 'productID', 'price'],
  sorted: ['price'],
  intervals: [{ of: 'price' }],
  scope: { columns: ['buyerID'], where: ({ clientID }) => ({ buyerID: clientID }) },
})
export class Offer {
  @PrimaryColumn(identifierColumn)
  offerID!: string;

  @Column({ ...identifierColumn, select: false })
  buyerID!: string;

  @ForeignKey(() => Product, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  productID!: string;

  /** As the product has it. A trigger sets it. */
  @ForeignKey(() => Category)
  @Column({ ...identifierColumn, nullable: true, insert: false, update: false })
  categoryID!: string | null;

  @Column('numeric')
  price!: string;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(Offer, { sort: ['offerID', 'price'], include: ['productID'] })
export class ListOffersDto extends ListQueryDto {
  @IdentifiersParam('The offers of products in these categories.')
  categoryID?: string[];

  @DecimalParam('The offers at this price or more.')
  priceMin?: string;
}

const languages = new Map([
  ['shop-de', 'de'],
  ['shop-fr', 'fr'],
]);

@Resource('product_texts', {
  counted: ['language'],
  filtered: ['productID', 'language'],
  sorted: ['name'],
  searched: ['words'],
  derived: { words: ['name'] },
  scope: {
    columns: ['language'],
    where: ({ clientID }) => ({ language: languages.get(clientID) ?? 'en' }),
  },
})
export class ProductText {
  @PrimaryColumn(identifierColumn)
  textID!: string;

  @ForeignKey(() => Product, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  productID!: string;

  @Column({ ...identifierColumn, length: 2 })
  language!: string;

  @Column(nameColumn)
  name!: string;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;

  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
}

@QueryOf(ProductText, { sort: ['textID', 'name'], include: ['productID'] })
export class ListTextsDto extends ListQueryDto {
  @IdentifiersParam('The texts of these products.')
  productID?: string[];

  @WordsParam('The texts with all these words.')
  q?: string;
}

@Resource('shoes', { counted: ['sizes'], sorted: ['name'] })
export class Shoe {
  @PrimaryColumn(identifierColumn)
  shoeID!: string;

  @Column(nameColumn)
  name!: string;

  /** Those of its pairs. A trigger sets it. */
  @Index({ type: 'gin' })
  @Column({ type: 'text', array: true, default: '{}', insert: false, update: false })
  sizes!: string[];

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@Resource('pairs', { filtered: ['shoeID', 'size'] })
export class Pair {
  @PrimaryColumn(identifierColumn)
  pairID!: string;

  @ForeignKey(() => Shoe, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  shoeID!: string;

  @Column({ ...nameColumn, length: 20 })
  size!: string;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(Shoe, { sort: ['shoeID', 'name'], include: [children(Pair)] })
export class ListShoesDto extends ListQueryDto {
  @TextsParam('The shoes that there are in one of these sizes.')
  sizes?: string[];
}

// What they do.

const RecipesModule = resourceModule(
  [Offer, ProductText, Shoe, Pair],
  controllerOf(Offer, { list: ListOffersDto }),
  controllerOf(
    ProductText,
    { list: ListTextsDto },
    { q: (words) => ({ words: containsWords(words) }) },
  ),
  controllerOf(Shoe, { list: ListShoesDto }),
);

let service: Service;
let fences: ReturnType<typeof fencesOf>['fences'];

beforeAll(async () => {
  ({ fences } = fencesOf(await readFile('docs/recipes.md', 'utf8')));
  const before = [
    ...fences.filter(({ language }) => language === 'sql').map(({ text }) => text),
    `SELECT install_words('product_texts', '{name}')`,
  ];
  service = await startWith(RecipesModule, { before });
  const { dataSource } = service;
  for (const categoryID of ['pots', 'books']) {
    await service.load('categories', [{ categoryID, parentID: null, name: categoryID }]);
  }
  await service.load(
    'products',
    ['pots', 'books', 'books'].map((categoryID, at) => ({
      productID: `p${at + 1}`,
      type: 'PHYSICAL',
      name: `Product ${at + 1}`,
      categoryID,
      price: '20.00',
      currency: 'EUR',
    })),
  );
  await dataSource.query(`INSERT INTO offers ("offerID", "buyerID", "productID", price) VALUES
    ('o1', 'b-1', 'p1', 9.5), ('o2', 'b-1', 'p2', 19), ('o3', 'b-1', 'p3', 25), ('o4', 'b-2', 'p1', 1)`);
  // A product that moves takes its offers along.
  await dataSource.query(`UPDATE products SET "categoryID" = 'pots' WHERE "productID" = 'p3'`);
  await dataSource.query(`INSERT INTO product_texts ("textID", "productID", language, name) VALUES
    ('p1-de', 'p1', 'de', 'Kanne'), ('p1-fr', 'p1', 'fr', 'Pichet'), ('p1-en', 'p1', 'en', 'Jug')`);
  await dataSource.query(
    `INSERT INTO shoes ("shoeID", name) VALUES ('s1', 'Clog'), ('s2', 'Boot')`,
  );
  await dataSource.query(`INSERT INTO pairs ("pairID", "shoeID", size) VALUES
    ('a', 's1', '42'), ('b', 's1', '41'), ('c', 's1', '42'), ('d', 's2', '43')`);
  await dataSource.query(`DELETE FROM pairs WHERE "pairID" = 'a'`);
  await dataSource.query(`UPDATE pairs SET "shoeID" = 's2' WHERE "pairID" = 'b'`);
});
afterAll(() => service.stop());

it('Every example is code that this test runs', async () => {
  const normal = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();
  const held = normal(await readFile('test/docs/recipes.spec.ts', 'utf8'));
  const examples = fences.filter(({ language }) => language === 'ts');
  expect(examples).toHaveLength(3);
  for (const { text } of examples) expect(held).toContain(normal(text));
});

/** What a client gets for each request that a recipe shows. */
async function answers(heading: string, client: string): Promise<unknown[]> {
  const asking = await service.newClient(client);
  const shown = fences.filter((fence) => fence.heading === heading && fence.language === 'text');
  const requests = shown.flatMap(({ text }) => text.trimEnd().split('\n'));
  const found: unknown[] = [];
  for (const request of requests) {
    const { body } = await asking.get(request.replace('GET ', ''));
    const { objects } = body.response_data as { objects: Record<string, unknown>[] };
    found.push(objects.map((each) => Object.values(each)));
  }
  return found;
}

it('A price for each buyer', async () => {
  expect(await answers('A price for each buyer', 'b-1')).toEqual([
    [
      ['9.5', { name: 'Product 1' }],
      ['25', { name: 'Product 3' }],
    ],
    [
      ['price', '..10', null, '1'],
      ['price', '10..20', null, '1'],
      ['price', '20..', null, '1'],
    ],
    [
      ['categoryID', 'pots', 'pots', '2'],
      ['categoryID', 'books', 'books', '1'],
    ],
  ]);
});

it('A language for each market', async () => {
  const kanne = [['Kanne', { price: '20.00' }]];
  expect(await answers('A language for each market', 'shop-de')).toEqual([kanne, [['Kanne']]]);
  expect(await answers('A language for each market', 'shop-fr')).toEqual([[], [['Pichet']]]);
  expect(await answers('A language for each market', 'shop')).toEqual([[], [['Jug']]]);
});

it('A filter by what very many children have', async () => {
  expect(await answers('A filter by what very many children have', 'shop-shoes')).toEqual([
    [['Clog', [{ size: '42' }], '1']],
    [
      ['sizes', '41', null, '1'],
      ['sizes', '42', null, '1'],
      ['sizes', '43', null, '1'],
    ],
  ]);
  // Two that write at the same time: the second one waits, and then sees what the first one has written.
  const { dataSource } = service;
  const pair = (pairID: string, size: string): string =>
    `INSERT INTO pairs ("pairID", "shoeID", size) VALUES ('${pairID}', 's1', '${size}')`;
  let second: Promise<unknown> | undefined;
  await dataSource.transaction(async (manager) => {
    await manager.query(pair('e', '44'));
    second = dataSource.query(pair('f', '45'));
    await sleep(200);
  });
  await second;
  expect(await dataSource.query(`SELECT sizes FROM shoes WHERE "shoeID" = 's1'`)).toEqual([
    { sizes: ['42', '44', '45'] },
  ]);
});
