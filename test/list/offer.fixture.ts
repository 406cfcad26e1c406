import { Column, ForeignKey, PrimaryColumn, VirtualColumn } from 'typeorm';
import { Brand } from '../../src/brands/brand.entity.js';
import {
  identifierColumn,
  ListQueryDto,
  QueryOf,
  related,
  Resource,
  SignedIntegerParam,
  TextParam,
  TextsParam,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

/** A resource with computed fields, and filters by the objects that it refers to. */
@Resource('test_offers', { counted: ['brandID'], filtered: ['brandID', 'title'] })
export class Offer {
  @PrimaryColumn(identifierColumn)
  offerID!: string;

  @ForeignKey(() => Brand)
  @Column({ ...identifierColumn, nullable: true })
  brandID!: string | null;

  @Column({ type: 'varchar', length: 100, collation: 'C' })
  title!: string;

  @Column({ type: 'integer' })
  amount!: number;

  /** Of its own columns, so it changes with its resource alone. */
  @VirtualColumn({ type: 'integer', query: (offer) => `SELECT 2 * ${offer}.amount` })
  doubled!: number;
}

/** The same table, whose lists show the name of the brand too. */
@Resource('test_named_offers')
export class NamedOffer {
  @PrimaryColumn(identifierColumn)
  offerID!: string;

  @Column({ ...identifierColumn, nullable: true })
  brandID!: string | null;

  @VirtualColumn({
    type: 'varchar',
    query: (offer) => `SELECT name FROM brands WHERE "brandID" = ${offer}."brandID"`,
  })
  brandName!: string | null;
}

/** The SQL that creates their tables. */
export const OFFERS = `
  CREATE TABLE test_offers (
    "offerID" varchar(100) COLLATE "C" PRIMARY KEY,
    "brandID" varchar(100) COLLATE "C" REFERENCES brands,
    title varchar(100) COLLATE "C" NOT NULL,
    amount integer NOT NULL
  );
  CREATE INDEX ON test_offers ("brandID", "offerID") INCLUDE (title);
  CREATE INDEX ON test_offers (title, "offerID") INCLUDE ("brandID");
  SELECT install_tally('test_offers', 'offerID', '{brandID}');
  SELECT install_deletions('test_offers', 'offerID');
  CREATE TABLE test_named_offers (
    "offerID" varchar(100) COLLATE "C" PRIMARY KEY,
    "brandID" varchar(100) COLLATE "C" REFERENCES brands
  );
  SELECT install_tally('test_named_offers', 'offerID', '{}');
  SELECT install_deletions('test_named_offers', 'offerID');`;

@QueryOf(Offer, { sort: ['offerID'], include: ['brandID'], reads: [] })
export class ListOffersDto extends ListQueryDto {
  @TextsParam('The offers of brands of these names.') brandName?: string[];
  @TextParam('The offers with this title, or of this brand.') either?: string;
  @TextParam('The offers of this brand, or of b1.') brandOrFirst?: string;
  @SignedIntegerParam('The offers whose doubled amount is this.') doubled?: number;
}

@QueryOf(NamedOffer, { sort: ['offerID'], reads: [Brand] })
export class ListNamedOffersDto extends ListQueryDto {
  @TextParam('The offers of brands of this name.') brandName?: string;
}

/** Says nothing of what its field reads. */
@QueryOf(NamedOffer, { sort: ['offerID'] })
export class ListSilentOffersDto extends ListQueryDto {}

export const OffersModule = resourceModule(
  [Offer, NamedOffer],
  controllerOf(
    Offer,
    { list: ListOffersDto },
    {
      brandName: (name) => ({ brandID: related(Brand, { name }) }),
      brandOrFirst: (brandID) => [{ brandID }, { brandID: 'b1' }],
      either: (text) => [{ title: text }, { brandID: text }],
    },
  ),
  controllerOf(NamedOffer, { list: ListNamedOffersDto }),
  controllerOf(NamedOffer, { path: 'test_silent_offers', list: ListSilentOffersDto }),
);
