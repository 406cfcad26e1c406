import {
  BooleanParam,
  DecimalParam,
  EnumsParam,
  IdentifiersParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  WordsParam,
} from '../list/index.js';
import { Product, ProductType } from './product.entity.js';

@QueryOf(Product)
export class GetProductDto extends ObjectQueryDto {}

@QueryOf(Product, {
  sort: ['productID', 'name', 'price', 'createdAt', 'updatedAt'],
  include: ['brandID', 'categoryID'],
})
export class ListProductsDto extends ListQueryDto {
  @IdentifiersParam('The products with these identifiers.')
  productID?: string[];

  @IdentifiersParam('The products with these references.')
  refID?: string[];

  @EnumsParam('The products of these types.', ProductType)
  type?: ProductType[];

  @IdentifiersParam('The products of these brands.')
  brandID?: string[];

  @IdentifiersParam('The products in these categories themselves, not in those below.')
  categoryID?: string[];

  @IdentifiersParam('The products in these categories and in all categories below them.')
  within?: string[];

  @WordsParam('The products with all these words in name and description.')
  q?: string;

  @DecimalParam('The products that cost at least this.')
  priceMin?: string;

  @DecimalParam('The products that cost at most this.')
  priceMax?: string;

  @BooleanParam(
    'The products with a stock of one or more, or with none; those that keep no stock are neither.',
  )
  inStock?: boolean;
}
