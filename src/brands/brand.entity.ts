import { Column, CreateDateColumn, Index, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import { Meaning } from '../resource/meaning.js';
import { identifier, name, Resource, time } from '../resource/resource.js';

@Resource('brands')
@Index(['name', 'brandID'])
@Index(['updatedAt', 'brandID'])
export class Brand {
  @Meaning('Identifies the brand.', 'amagumo')
  @PrimaryColumn(identifier)
  brandID!: string;

  @Meaning('What the brand is called.', 'Amagumo')
  @Column(name)
  name!: string;

  @Meaning('When the brand was first stored.')
  @CreateDateColumn(time)
  createdAt!: Date;

  @Meaning('When the brand was changed last.')
  @UpdateDateColumn(time)
  updatedAt!: Date;
}
