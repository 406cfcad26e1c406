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
import { identifier, name, Resource, time } from '../list/resource.js';

export enum ProductType {
  PHYSICAL = 'PHYSICAL',
  DIGITAL = 'DIGITAL',
  SERVICE = 'SERVICE',
}

@Resource('products', { counted: ['type', 'categoryID', 'brandID'] })
@Index(['refID', 'productID'])
@Index(['type', 'productID'])
@Index(['name', 'productID'])
@Index(['brandID', 'productID'])
@Index(['categoryID', 'productID'])
@Index(['price', 'productID'])
@Index(['stock', 'productID'])
@Index(['createdAt', 'productID'])
@Index(['updatedAt', 'productID'])
@Check('products_price', 'price >= 0 AND price < 1e15 AND scale(price) <= 4')
@Check('products_price_currency', 'price IS NULL OR currency IS NOT NULL')
@Check('products_currency', `currency ~ '^[A-Z]{3}$'`)
export class Product {
  @PrimaryColumn(identifier)
  productID!: string;

  /** The merchant's own reference. */
  @Column({ ...identifier, nullable: true })
  refID!: string | null;

  @Column({ type: 'enum', enum: ProductType, enumName: 'product_type' })
  type!: ProductType;

  @Column({ ...name, nullable: true })
  name!: string | null;

  @Column({ type: 'varchar', length: 10_000, nullable: true })
  description!: string | null;

  @ForeignKey(() => Brand)
  @Column({ ...identifier, nullable: true })
  brandID!: string | null;

  @ForeignKey(() => Category)
  @Column({ ...identifier, nullable: true })
  categoryID!: string | null;

  /** In units of the currency, kept with the decimals it came with. */
  @Column({ type: 'numeric', nullable: true })
  price!: string | null;

  /** ISO 4217. */
  @Column({ type: 'varchar', length: 3, nullable: true })
  currency!: string | null;

  /** Pieces at hand; null where none are kept. */
  @Column({ type: 'integer', nullable: true })
  stock!: number | null;

  @Column({ type: 'varchar', length: 2048, nullable: true })
  imageURL!: string | null;

  @CreateDateColumn(time)
  createdAt!: Date;

  @UpdateDateColumn(time)
  updatedAt!: Date;

  /** The words of name and description, for the filter `q`; kept by a trigger. */
  @Index({ type: 'gin' })
  @Column({ type: 'tsvector', select: false, insert: false, update: false })
  words!: string;
}
