import {
  DecimalParam,
  IdentifiersParam,
  IntegerParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  TextsParam,
} from '@catalogue/server';
import { Variant } from './variant.entity.js';

@QueryOf(Variant, { include: ['productID'] })
export class GetVariantDto extends ObjectQueryDto {}

@QueryOf(Variant, { sort: ['variantID', 'name', 'price'], include: ['productID'] })
export class ListVariantsDto extends ListQueryDto {
  @IdentifiersParam('The variants with these identifiers.')
  variantID?: string[];

  @IdentifiersParam('The variants of these products.')
  productID?: string[];

  @TextsParam('The variants of these names.')
  name?: string[];

  @DecimalParam('The variants that cost at least this, whatever the currency.')
  priceMin?: string;

  @DecimalParam('The variants that cost at most this, whatever the currency.')
  priceMax?: string;

  @IntegerParam('The variants with at least this stock.')
  stockMin?: number;
}
