import {
  Check,
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { Brand } from '../brands/brand.entity.js';
import { Category } from '../categories/category.entity.js';
import {
  identifierColumn,
  Meaning,
  nameColumn,
  NaturalOrder,
  Resource,
  timeColumn,
} from '@catalogue/server';

export enum ProductType {
  PHYSICAL = 'PHYSICAL',
  DIGITAL = 'DIGITAL',
  SERVICE = 'SERVICE',
}

@Resource('products', {
  counted: [
    'type',
    'categoryID',
    'brandID',
    'inStock',
    ['categoryID', 'type'],
    ['brandID', 'type'],
    ['categoryID', 'brandID'],
    ['categoryID', 'inStock'],
    ['brandID', 'inStock'],
    ['type', 'inStock'],
    'currency',
    ['currency', 'type'],
    ['categoryID', 'currency'],
    ['categoryID', 'type', 'inStock'],
    ['brandID', 'type', 'inStock'],
    ['currency', 'type', 'inStock'],
    'colours',
  ],
  filtered: ['type', 'categoryID', 'brandID', 'inStock', 'price', 'currency', 'stock'],
  sorted: ['name', 'price', 'createdAt', 'updatedAt'],
  searched: ['words'],
  derived: { inStock: ['stock'], words: ['name', 'refID', 'description'] },
  intervals: [{ of: 'price', within: ['categoryID', 'type'] }],
})
// Few products have the same reference, so no other index needs to carry it.
@Index(['refID', 'productID'])
@Check('products_price', 'price >= 0 AND price < 1e15 AND scale(price) <= 4')
@Check('products_price_currency', 'price IS NULL OR currency IS NOT NULL')
@Check('products_currency', `currency ~ '^[A-Z]{3}$'`)
export class Product {
  @Meaning('Identifies the product.', 'p-000006')
  @PrimaryColumn(identifierColumn)
  productID!: string;

  @Meaning('The merchant’s own reference.', 'TRV-73667-S-BUR')
  @Column({ ...identifierColumn, nullable: true })
  refID!: string | null;

  @Meaning('What is sold: a thing, a file or a service.')
  @Column({ type: 'enum', enum: ProductType, enumName: 'product_type' })
  type!: ProductType;

  @Meaning('What the product is called.', 'Cycles Tournevent Ville touring bike, S, burgundy')
  @Column({ ...nameColumn, nullable: true })
  name!: string | null;

  @Meaning(
    'A text about the product.',
    'Wide gears, hub dynamo and room for broad tyres. The first inspection is free. Cycles Tournevent has kept its town on two wheels since 1953.',
  )
  @Column({ type: 'varchar', length: 10_000, nullable: true })
  description!: string | null;

  @Meaning('The brand, by identifier.', 'cycles-tournevent')
  @ForeignKey(() => Brand)
  @Column({ ...identifierColumn, nullable: true })
  brandID!: string | null;

  @Meaning('The category that the product is directly in, by identifier.', 'outdoor-bikes')
  @ForeignKey(() => Category)
  @Column({ ...identifierColumn, nullable: true })
  categoryID!: string | null;

  @Meaning(
    'What one costs, in units of the currency, with the decimals that it came with.',
    '1789.00',
  )
  @Column({ type: 'numeric', nullable: true })
  price!: string | null;

  @Meaning('The currency of the price, ISO 4217.', 'EUR')
  @Column({ ...identifierColumn, length: 3, nullable: true })
  currency!: string | null;

  @Meaning('Pieces at hand; null where none are kept.', '1')
  @Column({ type: 'integer', nullable: true })
  stock!: number | null;

  @Meaning('Its colours, as a shop groups them.', 'red')
  @Index({ type: 'gin' })
  @Column({ type: 'text', array: true, nullable: true })
  colours!: string[] | null;

  @Meaning(
    'Where there is a picture of the product.',
    'https://images.example.com/cycles-tournevent/trv-73667-s-bur.jpg',
  )
  @Column({ type: 'varchar', length: 2048, nullable: true })
  imageURL!: string | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;

  /** Whether the stock is one or more; null where none is kept. A trigger sets it. */
  @Column({ type: 'boolean', nullable: true, select: false, insert: false, update: false })
  inStock!: boolean | null;

  /** The words of name, refID and description, for the filter `q`. A trigger sets it. */
  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;

  /** The natural order of the name, for `sort`. */
  @NaturalOrder('name')
  nameOrder!: string | null;
}
