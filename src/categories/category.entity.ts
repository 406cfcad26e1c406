import {
  Check,
  Column,
  CreateDateColumn,
  ForeignKey,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import {
  identifierColumn,
  Meaning,
  nameColumn,
  NaturalOrder,
  Resource,
  timeColumn,
} from '@catalogue/server';

@Resource('categories', { filtered: ['parentID', 'name'], sorted: ['name'] })
@Check('categories_parent', '"parentID" <> "categoryID"')
export class Category {
  @Meaning('Identifies the category.', 'kitchen-cooking')
  @PrimaryColumn(identifierColumn)
  categoryID!: string;

  @Meaning('The category directly above, by identifier; null at the top.', 'kitchen')
  @ForeignKey(() => Category)
  @Column({ ...identifierColumn, nullable: true })
  parentID!: string | null;

  @Meaning('What the category is called.', 'Cooking & baking')
  @Column(nameColumn)
  name!: string;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;

  /** The natural order of the name, for `sort`. */
  @NaturalOrder('name')
  nameOrder!: string;
}
