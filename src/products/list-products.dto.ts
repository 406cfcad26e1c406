import {
  BooleanParam,
  children,
  CurrenciesParam,
  DecimalParam,
  EnumsParam,
  IdentifiersParam,
  IntegerParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  TextsParam,
  WordsParam,
} from '@catalogue/server';
import { Variant } from '../variants/variant.entity.js';
import { Product, ProductType } from './product.entity.js';

@QueryOf(Product, { include: ['brandID', 'categoryID', children(Variant, { limit: 20 })] })
export class GetProductDto extends ObjectQueryDto {}

@QueryOf(Product, {
  sort: ['productID', 'name', 'price', 'createdAt', 'updatedAt'],
  include: ['brandID', 'categoryID', children(Variant, { limit: 20 })],
})
export class ListProductsDto extends ListQueryDto {
  @IdentifiersParam('The products with these identifiers.')
  productID?: string[];

  @IdentifiersParam('The products with these references.')
  refID?: string[];

  @EnumsParam('The products of these types.', ProductType)
  type?: ProductType[];

  @EnumsParam('The products of all types but these.', ProductType)
  typeNot?: ProductType[];

  @IdentifiersParam('The products of these brands.')
  brandID?: string[];

  @IdentifiersParam('The products of all brands but these, and those without a brand.')
  brandIDNot?: string[];

  @BooleanParam('The products with a brand, or those without one.')
  brandIDExists?: boolean;

  @IdentifiersParam('The products in these categories themselves, not in those below.')
  categoryID?: string[];

  @BooleanParam('The products in a category, or those in none.')
  categoryIDExists?: boolean;

  @IdentifiersParam('The products in these categories and in all categories below them.', {
    example: 'outdoor',
    reads: ['categoryID', 'categories.parentID'],
  })
  within?: string[];

  @WordsParam(
    'The products with all these words in name, description and reference, or with exactly this identifier.',
    { reads: ['words'] },
  )
  q?: string;

  @CurrenciesParam('The products whose currency is one of these.')
  currency?: string[];

  @TextsParam('The products in one of these colours.')
  colours?: string[];

  @TextsParam('The products in all of these colours.')
  coloursAll?: string[];

  @TextsParam('The products in none of these colours, and those without a colour.')
  coloursNot?: string[];

  @BooleanParam('The products with a colour, or those without one, whether null or empty.')
  coloursExists?: boolean;

  @TextsParam('The products with a variant of one of these names.', {
    example: 'Filter',
    reads: ['variants.productID', 'variants.name'],
  })
  variant?: string[];

  @DecimalParam('The products that cost at least this, whatever the currency.')
  priceMin?: string;

  @DecimalParam('The products that cost at most this, whatever the currency.')
  priceMax?: string;

  @BooleanParam('The products with a price, or those without one.')
  priceExists?: boolean;

  @BooleanParam(
    'The products with a stock of one or more, or with none; those that keep no stock are neither.',
  )
  inStock?: boolean;

  @IntegerParam('The products with at least this stock.')
  stockMin?: number;
}
