import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Has the tally of products count what is in stock and of a type by brand, category and currency, for the
 * facets of lists with both filters. An update that changes none of these columns writes no more than before.
 */
export class CountStockWithType1764547200000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(installTally(`${COUNTED_BEFORE},${ADDED}`));
  }

  async down(runner: QueryRunner): Promise<void> {
    await runner.query(installTally(COUNTED_BEFORE));
  }
}

const COUNTED_BEFORE =
  'type,categoryID,brandID,inStock,categoryID+type,brandID+type,categoryID+brandID,categoryID+inStock,brandID+inStock,type+inStock,currency,currency+type,categoryID+currency';

const ADDED = 'categoryID+type+inStock,brandID+type+inStock,currency+type+inStock';

function installTally(counted: string): string {
  return `SELECT install_tally('products', 'productID', '{${counted}}',
    '{name,price,createdAt,updatedAt}', '{words}')`;
}
