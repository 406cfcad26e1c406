import { ListQueryDto, ObjectQueryDto } from '../list/list-query.dto.js';
import { DateTimeParam, IdentifiersParam, TextParam } from '../list/parameters.js';
import { QueryOf } from '../list/query-of.js';
import { Brand } from './brand.entity.js';

@QueryOf(Brand)
export class GetBrandDto extends ObjectQueryDto {}

@QueryOf(Brand, { sort: ['brandID', 'name'] })
export class ListBrandsDto extends ListQueryDto {
  @IdentifiersParam('The brands with these identifiers.')
  brandID?: string[];

  @TextParam('The brands of exactly this name.')
  name?: string;

  @DateTimeParam('The brands changed at this time or later.')
  updatedSince?: Date;
}
