import { Module, type Type } from '@nestjs/common';
import { Column, ForeignKey, MoreThanOrEqual, PrimaryColumn } from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import {
  BooleanParam,
  EnumsParam,
  IdentifiersParam,
  ListQueryDto,
  Meaning,
  ObjectQueryDto,
  QueryOf,
  related,
  Resource,
  SignedDecimalParam,
  TextParam,
  TextsParam,
  timeColumn,
  within,
} from '@catalogue/server';
import { type Service, startService } from '../service.js';
import { controllerOf, resourceModule } from './resource-module.js';

export enum ShopState {
  New = 'new',
  Sold = 'sold out',
}

/** The resources, each with what it lists: a table, a view on it, and a foreign table that leads to it. */
export const SHOP = {
  test_items: 'items',
  test_open_items: 'open_items',
  test_remote_items: 'remote_items',
} as const;

type ShopResource = keyof typeof SHOP;

/** Their entities. */
export const ITEMS = new Map<string, Type>();

function shopModule(resource: ShopResource): Type {
  // A view says of no column that it is never null.
  const nullable = resource === 'test_open_items';

  @Resource(resource, { external: { schema: 'shop', name: SHOP[resource] } })
  class Item {
    @Meaning('Identifies the item.')
    @PrimaryColumn({ type: 'text' })
    item_id!: string;

    @Meaning('The name of the item.')
    @Column({ type: 'varchar', length: 80, nullable })
    name!: string;

    @Meaning('The state of the item.')
    @Column({ type: 'enum', enum: ShopState, nullable })
    state!: ShopState;

    @Meaning('The price of the item.')
    @Column({ type: 'numeric', nullable: true })
    price!: string | null;

    @Meaning('The tags of the item.')
    @Column({ type: 'text', array: true, nullable: true })
    tags!: string[] | null;

    @Meaning('The brand of the item.')
    @ForeignKey(() => Brand)
    @Column({ type: 'text', nullable: true })
    brandID!: string | null;

    @Meaning('The item that it is a part of.')
    @ForeignKey(() => Item)
    @Column({ type: 'text', nullable: true })
    part_of!: string | null;

    @Meaning('When it was sold.')
    @Column({ ...timeColumn, nullable: true })
    sold_at!: Date | null;
  }
  ITEMS.set(resource, Item);

  @QueryOf(Item, { include: ['brandID'] })
  class GetItemDto extends ObjectQueryDto {}

  @QueryOf(Item, {
    sort: nullable ? ['item_id', 'price'] : ['item_id', 'name', 'state', 'price'],
    include: ['brandID'],
  })
  class ListItemsDto extends ListQueryDto {
    @IdentifiersParam('The items with these identifiers.') item_id?: string[];
    @TextParam('The items of this name.', { maximum: 80 }) name?: string;
    @EnumsParam('The items in these states.', ShopState) state?: ShopState[];
    @SignedDecimalParam('The items of at least this price.') priceMin?: string;
    @BooleanParam('The items with a price.') priceExists?: boolean;
    @TextsParam('The items with any of these tags.') tags?: string[];
    @IdentifiersParam('These items and their parts.') within?: string[];
  }

  Object.defineProperty(Item, 'name', { value: `Shop${resource}` });
  return resourceModule(
    [Item],
    controllerOf(
      Item,
      { list: ListItemsDto, object: GetItemDto },
      {
        priceMin: (minimum) => ({ price: MoreThanOrEqual(minimum) }),
        within: (roots) => ({ item_id: within(Item, roots) }),
      },
    ),
  );
}

const modules = (Object.keys(SHOP) as ShopResource[]).map(shopModule);

@QueryOf(Brand, { sort: ['brandID'] })
class ListSoldBrandsDto extends ListQueryDto {
  @EnumsParam('The brands that are an item in these states.', ShopState) itemState?: ShopState[];
}

/** A list of the service that looks up an external table. */
const soldBrands = controllerOf(
  Brand,
  { path: 'sold-brands', list: ListSoldBrandsDto },
  {
    itemState: (states) => {
      const Item = ITEMS.get('test_items') as Type<{ state: ShopState }>;
      return { brandID: related(Item, { state: states }) };
    },
  },
);

@Module({ imports: modules, controllers: [soldBrands] })
class ShopModule {}

/** What the owner of the tables has created. The foreign table leads to the same database. */
export function shopStatements(url: string): string[] {
  const { hostname, port, pathname, username, password } = new URL(url);
  const columns = `name varchar(80) COLLATE "C" NOT NULL, state shop.state NOT NULL, price numeric(9,2),
    tags text[], "brandID" text COLLATE "C", part_of text COLLATE "C", sold_at timestamptz`;
  return [
    'CREATE SCHEMA shop',
    `CREATE TYPE shop.state AS ENUM ('new', 'sold out')`,
    `CREATE TABLE shop.items (item_id text COLLATE "C" PRIMARY KEY, ${columns}, unlisted point)`,
    'CREATE INDEX ON shop.items (name)',
    'CREATE INDEX ON shop.items (state)',
    'CREATE INDEX ON shop.items (price)',
    'CREATE INDEX ON shop.items (part_of)',
    'CREATE INDEX ON shop.items USING gin (tags)',
    `CREATE VIEW shop.open_items AS SELECT * FROM shop.items WHERE price IS DISTINCT FROM 'NaN'`,
    'CREATE EXTENSION postgres_fdw',
    `CREATE SERVER loop FOREIGN DATA WRAPPER postgres_fdw
     OPTIONS (host '${hostname}', port '${port}', dbname '${pathname.slice(1)}')`,
    `CREATE USER MAPPING FOR CURRENT_USER SERVER loop
     OPTIONS (user '${username}', password '${decodeURIComponent(password)}')`,
    `CREATE FOREIGN TABLE shop.remote_items (item_id text COLLATE "C" NOT NULL, ${columns})
     SERVER loop OPTIONS (schema_name 'shop', table_name 'items')`,
  ];
}

/** Starts the service with these resources and their tables. */
export async function startShop(): Promise<Service> {
  const service = await startService({}, ShopModule);
  for (const statement of shopStatements(service.database.url)) {
    await service.dataSource.query(statement);
  }
  return service;
}
