import { Column, CreateDateColumn, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { identifier, name, Resource, time } from '../list/resource.js';

@Resource('brands')
@Index(['name', 'brandID'])
export class Brand {
  @PrimaryColumn(identifier)
  brandID!: string;

  @Column(name)
  name!: string;

  @CreateDateColumn(time)
  createdAt!: Date;

  @UpdateDateColumn(time)
  updatedAt!: Date;
}
