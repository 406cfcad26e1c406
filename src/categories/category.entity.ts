import {
  Check,
  Column,
  CreateDateColumn,
  ForeignKey,
  Index,
  PrimaryColumn,
  UpdateDateColumn,
} from 'typeorm';
import { identifier, name, Resource, time } from '../list/resource.js';

@Resource('categories')
@Index(['parentID', 'categoryID'])
@Index(['name', 'categoryID'])
@Check('categories_parent', '"parentID" <> "categoryID"')
export class Category {
  @PrimaryColumn(identifier)
  categoryID!: string;

  @ForeignKey(() => Category)
  @Column({ ...identifier, nullable: true })
  parentID!: string | null;

  @Column(name)
  name!: string;

  @CreateDateColumn(time)
  createdAt!: Date;

  @UpdateDateColumn(time)
  updatedAt!: Date;
}
