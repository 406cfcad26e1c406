import {
  IdentifiersParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  TextParam,
} from '@catalogue/server';
import { Brand } from './brand.entity.js';

@QueryOf(Brand)
export class GetBrandDto extends ObjectQueryDto {}

@QueryOf(Brand, { sort: ['brandID', 'name'] })
export class ListBrandsDto extends ListQueryDto {
  @IdentifiersParam('The brands with these identifiers.')
  brandID?: string[];

  @TextParam('The brands of exactly this name.')
  name?: string;
}
