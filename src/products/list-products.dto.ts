import { ListQueryDto, ObjectQueryDto } from '../list/list-query.dto.js';
import {
  BooleanParam,
  DateTimeParam,
  DecimalParam,
  EnumsParam,
  IdentifiersParam,
  WordsParam,
} from '../list/parameters.js';
import { QueryOf } from '../list/query-of.js';
import { Product, ProductType } from './product.entity.js';

@QueryOf(Product)
export class GetProductDto extends ObjectQueryDto {}

@QueryOf(Product, { sort: ['productID', 'name', 'price', 'createdAt', 'updatedAt'] })
export class ListProductsDto extends ListQueryDto {
  /** The products with these identifiers. */
  @IdentifiersParam()
  productID?: string[];

  /** The products with these references. */
  @IdentifiersParam()
  refID?: string[];

  /** The products of these types. */
  @EnumsParam(ProductType)
  type?: ProductType[];

  /** The products of these brands. */
  @IdentifiersParam()
  brandID?: string[];

  /** The products in these categories themselves, not in those below. */
  @IdentifiersParam()
  categoryID?: string[];

  /** The products with all these words in name and description. */
  @WordsParam()
  q?: string;

  /** The products that cost at least this. */
  @DecimalParam()
  priceMin?: string;

  /** The products that cost at most this. */
  @DecimalParam()
  priceMax?: string;

  /** The products with a stock of one or more, or with none; those that keep no stock are neither. */
  @BooleanParam()
  inStock?: boolean;

  /** The products changed at this time or later. */
  @DateTimeParam()
  updatedSince?: Date;
}
