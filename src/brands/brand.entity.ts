import { Column, CreateDateColumn, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import {
  identifierColumn,
  Meaning,
  nameColumn,
  NaturalOrder,
  Resource,
  timeColumn,
} from '@catalogue/server';

@Resource('brands', { filtered: ['name'], sorted: ['name'] })
export class Brand {
  @Meaning('Identifies the brand.', 'amagumo')
  @PrimaryColumn(identifierColumn)
  brandID!: string;

  @Meaning('What the brand is called.', 'Amagumo')
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
