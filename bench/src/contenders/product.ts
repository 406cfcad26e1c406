import {
  Column,
  Entity,
  type FindOperator,
  getMetadataArgsStorage,
  PrimaryColumn,
  Raw,
} from 'typeorm';

/** The table as one maps it who knows nothing of its tally. */
@Entity('products')
export class Product {
  @PrimaryColumn({ type: 'varchar' }) productID!: string;
  @Column({ type: 'varchar', nullable: true }) refID!: string | null;
  @Column({ type: 'enum', enum: ['PHYSICAL', 'DIGITAL', 'SERVICE'], enumName: 'product_type' })
  type!: string;
  @Column({ type: 'varchar', nullable: true }) name!: string | null;
  @Column({ type: 'varchar', nullable: true }) description!: string | null;
  @Column({ type: 'varchar', nullable: true }) brandID!: string | null;
  @Column({ type: 'varchar', nullable: true }) categoryID!: string | null;
  @Column({ type: 'numeric', nullable: true }) price!: string | null;
  @Column({ type: 'varchar', nullable: true }) currency!: string | null;
  @Column({ type: 'integer', nullable: true }) stock!: number | null;
  @Column({ type: 'text', array: true, nullable: true }) colours!: string[] | null;
  @Column({ type: 'varchar', nullable: true }) imageURL!: string | null;
  @Column({ type: 'timestamptz' }) createdAt!: Date;
  @Column({ type: 'timestamptz' }) updatedAt!: Date;
  @Column({ type: 'tsvector', select: false }) words!: string;
}

/** The condition that a product has all words of a text, which the service has as well. */
export function hasWords(words: string): FindOperator<string> {
  return Raw((column) => `${column} @@ plainto_tsquery('simple', :words)`, {
    words,
  }) as FindOperator<string>;
}

/** Its columns that are answered. */
export const FIELDS = getMetadataArgsStorage()
  .filterColumns(Product)
  .filter(({ options }) => options.select !== false)
  .map(({ propertyName }) => propertyName);

export function envelope(count: string, objects: readonly object[]): object {
  return { result: { status: 'OK', errcode: '0', msg: '' }, response_data: { count, objects } };
}
