import {
  Check,
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { Meaning } from '../resource/meaning.js';
import { identifier, name, Resource, time } from '../resource/resource.js';

@Resource('categories')
@Index(['parentID', 'categoryID'])
@Index(['name', 'categoryID'])
@Index(['updatedAt', 'categoryID'])
@Check('categories_parent', '"parentID" <> "categoryID"')
export class Category {
  @Meaning('Identifies the category.', 'kitchen-cooking')
  @PrimaryColumn(identifier)
  categoryID!: string;

  @Meaning('The category directly above, by identifier; null at the top.', 'kitchen')
  @ForeignKey(() => Category)
  @Column({ ...identifier, nullable: true })
  parentID!: string | null;

  @Meaning('What the category is called.', 'Cooking & baking')
  @Column(name)
  name!: string;

  @Meaning('When the category was first stored.')
  @CreateDateColumn(time)
  createdAt!: Date;

  @Meaning('When the category was changed last.')
  @UpdateDateColumn(time)
  updatedAt!: Date;
}
