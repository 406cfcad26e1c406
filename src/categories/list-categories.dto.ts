import { ListQueryDto, ObjectQueryDto } from '../list/list-query.dto.js';
import { DateTimeParam, IdentifierParam, IdentifiersParam, TextParam } from '../list/parameters.js';
import { QueryOf } from '../list/query-of.js';
import { Category } from './category.entity.js';

@QueryOf(Category)
export class GetCategoryDto extends ObjectQueryDto {}

@QueryOf(Category, { sort: ['categoryID', 'name'] })
export class ListCategoriesDto extends ListQueryDto {
  @IdentifiersParam('The categories with these identifiers.')
  categoryID?: string[];

  @IdentifierParam('The categories directly below this one.')
  parentID?: string;

  @TextParam('The categories of exactly this name.')
  name?: string;

  @DateTimeParam('The categories changed at this time or later.')
  updatedSince?: Date;
}
