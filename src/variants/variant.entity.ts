import {
  Check,
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { Product } from '../products/product.entity.js';
import { identifierColumn, Meaning, nameColumn, Resource, timeColumn } from '@catalogue/server';

@Resource('variants', {
  counted: ['name'],
  filtered: ['productID', 'name', 'price', 'stock'],
  sorted: ['name', 'price'],
})
// The products with a variant of a name are counted in this order, also if there are very many.
@Index(['name', 'productID'])
@Check('variants_price', 'price >= 0 AND price < 1e15 AND scale(price) <= 4')
@Check('variants_price_currency', 'price IS NULL OR currency IS NOT NULL')
@Check('variants_currency', `currency ~ '^[A-Z]{3}$'`)
export class Variant {
  @Meaning('Identifies the variant.', 'p-000418-2')
  @PrimaryColumn(identifierColumn)
  variantID!: string;

  @Meaning('The product that it is a variant of, by identifier.', 'p-000418')
  @ForeignKey(() => Product, { onDelete: 'CASCADE' })
  @Column(identifierColumn)
  productID!: string;

  @Meaning('What sets the variant apart, such as a size or a grind.', 'Filter')
  // Short, so that its index holds the product, too.
  @Column({ ...nameColumn, length: 100 })
  name!: string;

  @Meaning('What one costs, in units of the currency; null as for the product.', '12.95')
  @Column({ type: 'numeric', nullable: true })
  price!: string | null;

  @Meaning('The currency of the price, ISO 4217.', 'EUR')
  @Column({ ...identifierColumn, length: 3, nullable: true })
  currency!: string | null;

  @Meaning('Pieces at hand; null where none are kept.', '53')
  @Column({ type: 'integer', nullable: true })
  stock!: number | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}
