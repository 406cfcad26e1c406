import {
  BooleanParam,
  IdentifierParam,
  IdentifiersParam,
  ListQueryDto,
  ObjectQueryDto,
  QueryOf,
  TextParam,
} from '@catalogue/server';
import { Category } from './category.entity.js';

@QueryOf(Category, { include: ['parentID'] })
export class GetCategoryDto extends ObjectQueryDto {}

@QueryOf(Category, { sort: ['categoryID', 'name'], include: ['parentID'] })
export class ListCategoriesDto extends ListQueryDto {
  @IdentifiersParam('The categories with these identifiers.')
  categoryID?: string[];

  @IdentifiersParam('These categories and all below them.', {
    example: 'outdoor',
    reads: ['parentID'],
  })
  within?: string[];

  @IdentifierParam('The categories directly below this one.')
  parentID?: string;

  @BooleanParam('The categories below another one, or those at the top.')
  parentIDExists?: boolean;

  @TextParam('The categories of exactly this name.')
  name?: string;
}
