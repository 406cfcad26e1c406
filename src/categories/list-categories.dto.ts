import { ListQueryDto, ObjectQueryDto } from '../list/list-query.dto.js';
import { IdentifierParam, IdentifiersParam, TextParam } from '../list/parameters.js';
import { QueryOf } from '../list/query-of.js';
import { Category } from './category.entity.js';

@QueryOf(Category)
export class GetCategoryDto extends ObjectQueryDto {}

@QueryOf(Category, { sort: ['categoryID', 'name'] })
export class ListCategoriesDto extends ListQueryDto {
  /** The categories with these identifiers. */
  @IdentifiersParam()
  categoryID?: string[];

  /** The categories directly below this one. */
  @IdentifierParam()
  parentID?: string;

  /** The categories of exactly this name. */
  @TextParam()
  name?: string;
}
