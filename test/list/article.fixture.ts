import { Column, ForeignKey, In, Index, Not, PrimaryColumn, UpdateDateColumn } from 'typeorm';
import {
  BooleanParam,
  children,
  EnumsParam,
  having,
  identifierColumn,
  IdentifiersParam,
  IntegerParam,
  IntegersParam,
  ListQueryDto,
  nameColumn,
  ObjectQueryDto,
  QueryOf,
  Resource,
  TextsParam,
  timeColumn,
} from '@catalogue/server';
import { controllerOf, resourceModule } from './resource-module.js';

export enum ArticleKind {
  SHIRT = 'SHIRT',
  SHOE = 'SHOE',
}

/** A resource with children, and with arrays whose items are counted, also in intervals. */
@Resource('test_articles', {
  counted: ['kind', 'maker', 'colours', 'years', ['kind', 'maker'], ['maker', 'name']],
  filtered: ['kind', 'maker', 'weight'],
  sorted: ['name', 'weight'],
  intervals: [{ of: 'weight', within: ['kind', 'maker'] }],
})
export class Article {
  @PrimaryColumn(identifierColumn)
  articleID!: string;

  @Column(nameColumn)
  name!: string;

  @Column({ type: 'enum', enum: ArticleKind, enumName: 'test_article_kind' })
  kind!: ArticleKind;

  @Column({ ...nameColumn, nullable: true })
  maker!: string | null;

  @Index({ type: 'gin' })
  @Column({ type: 'text', array: true, nullable: true })
  colours!: string[] | null;

  @Column({ type: 'integer', array: true })
  years!: number[];

  @Column({ type: 'integer', nullable: true })
  weight!: number | null;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

/** The children of articles, of which a client sees some. */
@Resource('test_variants', {
  filtered: ['articleID', 'size', 'ownerID'],
  sorted: ['price'],
  scope: {
    columns: ['ownerID'],
    where: ({ clientID }) => (clientID === 'tester' ? {} : { ownerID: In(['all', clientID]) }),
  },
})
export class Variant {
  @PrimaryColumn(identifierColumn)
  variantID!: string;

  @ForeignKey(() => Article, { onDelete: 'CASCADE' })
  @Column({ ...identifierColumn, nullable: true })
  articleID!: string | null;

  @Column(nameColumn)
  size!: string;

  @Column({ type: 'numeric', nullable: true })
  price!: string | null;

  @Column({ type: 'boolean' })
  inStock!: boolean;

  @Column({ ...identifierColumn, select: false, default: 'all' })
  ownerID!: string;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

/** Most variants of an article that are shown. */
export const SHOWN = 3;

const VARIANTS = children(Variant, { limit: SHOWN, sort: '-price' });

@QueryOf(Article, { include: [VARIANTS] })
class GetArticleDto extends ObjectQueryDto {}

@QueryOf(Article, { sort: ['articleID', 'name', 'weight'], include: [VARIANTS] })
class ListArticlesDto extends ListQueryDto {
  @IdentifiersParam('With these identifiers.') articleID?: string[];
  @EnumsParam('Of these kinds.', ArticleKind) kind?: ArticleKind[];
  @TextsParam('Of these makers.') maker?: string[];
  @BooleanParam('Of some maker, or of none.') makerExists?: boolean;
  @TextsParam('With these names.') name?: string[];
  @TextsParam('In one of these colours.') colours?: string[];
  @TextsParam('In all of these colours.') coloursAll?: string[];
  @TextsParam('In none of these colours.') coloursNot?: string[];
  @BooleanParam('In some colour, or in none.') coloursExists?: boolean;
  @IntegersParam('Of one of these years.') years?: number[];
  @IntegersParam('Of none of these years.') yearsNot?: number[];
  @BooleanParam('Of some year, or of none.') yearsExists?: boolean;
  @IntegerParam('With at least this weight.') weightMin?: number;
  @IntegerParam('With at most this weight.') weightMax?: number;
  @TextsParam('With a variant of one of these sizes.') size?: string[];
  @TextsParam('With no variant of one of these sizes.') sizeNot?: string[];
  @TextsParam('With a variant of one of these sizes in stock.') sizeInStock?: string[];
}

@QueryOf(Variant, { sort: ['variantID'] })
class ListVariantsDto extends ListQueryDto {
  @BooleanParam('In stock, or not.') inStock?: boolean;
}

export const ArticlesModule = resourceModule(
  [Article, Variant],
  controllerOf(
    Article,
    { list: ListArticlesDto, object: GetArticleDto },
    {
      size: (size) => ({ articleID: having(Variant, { size }) }),
      sizeNot: (size) => ({ articleID: Not(having(Variant, { size })) }),
      sizeInStock: (size) => ({ articleID: having(Variant, { size, inStock: true }) }),
    },
  ),
  controllerOf(Variant, { list: ListVariantsDto }),
);
