import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  All,
  Controller,
  Get,
  Header,
  HttpCode,
  Module,
  Param,
  Post,
  Query,
  Redirect,
  Render,
  Res,
  Sse,
  type Type,
  Version,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { Exclude, Expose, Transform, Type as TransformType } from 'class-transformer';
import {
  Allow,
  IsIn,
  IsInt,
  IsString,
  Matches,
  MaxLength,
  ValidateIf,
  ValidateNested,
} from 'class-validator';
import {
  Any,
  ArrayContains,
  ArrayOverlap,
  Between,
  Column,
  DataSource,
  DeleteDateColumn,
  Equal,
  ForeignKey,
  Generated,
  IsNull,
  JsonContains,
  Like,
  MoreThan,
  Not,
  Or,
  PrimaryColumn,
  PrimaryGeneratedColumn,
  Repository,
  UpdateDateColumn,
  VirtualColumn,
} from 'typeorm';
import { createApplication } from '#server/application.js';
import { PROJECT } from '../project.js';
import { Brand } from '../../src/brands/brand.entity.js';
import { Category } from '../../src/categories/category.entity.js';
import {
  BigintParam,
  BooleanParam,
  DateParam,
  DateTimeParam,
  EnumParam,
  EnumsParam,
  identifierColumn,
  IntegerParam,
  IntegersParam,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  NumberParam,
  type ObjectLookup,
  objectOf,
  ObjectQueryDto,
  QueryOf,
  Resource,
  Returns,
  SignedDecimalParam,
  SignedIntegerParam,
  TextParam,
  TextsParam,
  UuidParam,
} from '@catalogue/server';
import { columnProblems } from '#server/declarations/declared-resources.js';
import { Settings } from '#server/settings/settings.js';
import { callLists } from '#server/verify/called-lists.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { UntypedModule } from './untyped.fixture.js';

let database: TestDatabase;

beforeAll(async () => {
  database = await createDatabase();
});
afterAll(() => database.drop());

/** The error with which the service does not start with a module; `undefined` if it starts. */
async function refusalOf(module: Type): Promise<Error | undefined> {
  try {
    await calledWith(module);
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** What is wrong with the lists of a module, as `catalogue verify` says. */
async function calledWith(module: Type): Promise<readonly string[]> {
  const settings = new Settings({ LOG_LEVEL: 'error', DATABASE_URL: database.url });
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
  try {
    const application = await createApplication(PROJECT, database.url, settings, [module]);
    const { problems } = await callLists(application);
    await application.close();
    return problems;
  } finally {
    jest.restoreAllMocks();
  }
}

/** What is wrong with an entity. */
async function problemsOf(entity: Type, ...others: Type[]): Promise<string[]> {
  const entities = [entity, ...others];
  const dataSource = new DataSource({ type: 'postgres', url: database.url, entities });
  await dataSource.initialize();
  try {
    return [...columnProblems(dataSource.getMetadata(entity))];
  } finally {
    await dataSource.destroy();
  }
}

function withController(controller: Type): Type {
  @Module({ imports: [TypeOrmModule.forFeature([Brand])], controllers: [controller] })
  class ControllerModule {}
  return ControllerModule;
}

/** An entity with one more column than its identifier. */
function withColumn(decorate: PropertyDecorator, counted: 'what'[] = []): Type {
  @Resource('test_declared', { counted })
  class Declared {
    @PrimaryColumn(identifierColumn)
    declaredID!: string;

    what!: string;
  }
  decorate(Declared.prototype, 'what');
  return Declared;
}

describe('A column', () => {
  it.each([
    ['timestamp', Column('timestamp')],
    ['real', Column('real')],
    ['interval', Column('interval')],
    ['bytea', Column('bytea')],
    ['jsonb[]', Column('jsonb', { array: true })],
    ['tsvector', Column('tsvector')],
    ['money', Column({ type: 'money', nullable: true })],
  ])('of the type %s is refused', async (type, column) => {
    expect(await problemsOf(withColumn(column))).toEqual([
      expect.stringMatching(
        `^Declared.what is a column of type ${type.replace('[]', '\\[\\]')}, which no list can show: give it one of varchar, .*, or select: false$`,
      ),
    ]);
  });

  it.each<[string, PropertyDecorator, string]>([
    [
      'without a type',
      (prototype, name) => {
        Reflect.defineMetadata('design:type', String, prototype, name);
        Column()(prototype, name);
      },
      'Declared.what has no column type: give @Column one, such as nameColumn',
    ],
    [
      'without a decorator',
      () => undefined,
      'Declared.what has no decorator of a column, such as @Column',
    ],
    [
      'that makes the key composite',
      PrimaryColumn(identifierColumn),
      'Declared is identified by declaredID and what: a resource needs exactly one @PrimaryColumn, which may be made of them',
    ],
  ])('%s is refused', async (_, column, message) => {
    expect(await problemsOf(withColumn(column))).toEqual([message]);
  });

  it.each(['numeric', 'timestamptz', 'jsonb'] as const)(
    'of the type %s is not counted, since equal values may differ as text',
    async (type) => {
      expect(await problemsOf(withColumn(Column(type), ['what']))).toEqual([
        `Declared.what cannot be counted, since it is a column of type ${type}`,
      ]);
    },
  );

  it('has counted intervals if lists are sorted by it, within counted ones, and once', async () => {
    class Spaced {
      @PrimaryColumn(identifierColumn) spacedID!: string;
      @Column('numeric') price!: string;
      @Column('integer') year!: number;
      @Column('boolean') isNew!: boolean;
      @Column('boolean') isUsed!: boolean;
    }
    Resource<Spaced>('test_spaced', {
      counted: ['year', 'isNew', ['isNew', 'year']],
      sorted: ['year'],
      intervals: [
        { of: 'price' },
        { of: 'year', within: ['price', 'isNew'] },
        { of: 'year', within: ['isUsed', 'isNew'] },
        { of: 'year', within: ['isUsed', 'isNew'] },
        { of: 'year', within: ['isNew'] as never },
        { of: 'year' },
        { of: 'year' },
        { of: 'year', within: ['isNew', 'year'] },
        { of: 'year', within: ['isUsed', 'isUsed'] },
        { of: 'year', within: [] as never },
      ],
    })(Spaced);
    expect(await problemsOf(Spaced)).toEqual([
      'Spaced counts intervals of price, but price is not in its sorted columns',
      'Spaced counts intervals of year within isNew and isUsed twice',
      'Spaced counts intervals of year twice',
      'Spaced counts intervals of year within isNew, but every counted column is counted by itself: name a combination, or none',
      'Spaced counts intervals of year within isNew and year',
      'Spaced counts intervals of year within isUsed and isUsed',
      'Spaced counts intervals of year within no columns, but every counted column is counted by itself: name a combination, or none',
      'Spaced.price cannot be counted, since it is a column of type numeric',
    ]);
  });

  it('is counted once, and by itself or with others', async () => {
    @Resource('test_repeated', {
      counted: ['size', ['size', 'year'], 'size', ['year', 'year'], ['year', 'size'], []],
    })
    class Repeated {
      @PrimaryColumn(identifierColumn) repeatedID!: string;
      @Column('integer') size!: number;
      @Column('integer') year!: number;
    }
    expect(await problemsOf(Repeated)).toEqual([
      'Repeated counts size twice',
      'Repeated counts size and year twice',
      'Repeated counts a combination of year and year',
      'Repeated counts a combination of no columns',
    ]);
  });

  it('is no array if it is counted with others', async () => {
    @Resource('test_arrays', {
      counted: ['tags', 'years', ['tags', 'size']],
      sorted: ['size'],
      intervals: [{ of: 'size', within: ['years', 'number'] }],
    })
    class Arrays {
      @PrimaryColumn(identifierColumn) arraysID!: string;
      @Column({ type: 'text', array: true }) tags!: string[];
      @Column({ type: 'integer', array: true }) years!: number[];
      @Column('integer') number!: number;
      @Column('integer') size!: number;
    }
    expect(await problemsOf(Arrays)).toEqual([
      'Arrays counts a combination with tags, an array, whose items are counted by themselves',
      'Arrays counts a combination with years, an array, whose items are counted by themselves',
    ]);
  });

  it('of the times of changes has milliseconds', async () => {
    const withPrecision = (precision?: number) =>
      problemsOf(withColumn(UpdateDateColumn({ type: 'timestamptz', precision })));
    expect(await withPrecision(0)).toEqual([
      'Declared.what rounds times to less than milliseconds, so that updatedSince would miss changes: give it timeColumn',
    ]);
    for (const precision of [undefined, 3, 6]) expect(await withPrecision(precision)).toEqual([]);
  });

  it('that marks objects as deleted is refused', async () => {
    const column = DeleteDateColumn({ type: 'timestamptz', nullable: true });
    expect(await problemsOf(withColumn(column))).toEqual([
      'Declared.what is a @DeleteDateColumn, and no list leaves out what it marks: delete the rows',
    ]);
  });

  it.each([
    PrimaryGeneratedColumn('increment', { type: 'integer' }),
    PrimaryGeneratedColumn('uuid'),
    PrimaryGeneratedColumn('identity', { type: 'bigint' }),
  ])('that identifies objects is not generated', async (generated) => {
    @Resource('test_generated')
    class Generated {
      @generated
      id!: string;
    }
    expect(await problemsOf(Generated)).toEqual([
      'Generated.id is generated by a sequence or an extension, and an import sets it: declare it by its type, with a default in SQL such as gen_random_uuid() if others write to the table',
    ]);
  });

  it('has a default in SQL in place of a generation', async () => {
    const options = { type: 'uuid', default: () => 'gen_random_uuid()' } as const;
    expect(await problemsOf(withColumn(Column(options)))).toEqual([]);
    const generated: PropertyDecorator = (prototype, name) => {
      Column(options)(prototype, name);
      Generated('uuid')(prototype, String(name));
    };
    expect(await problemsOf(withColumn(generated))).toEqual([
      expect.stringMatching(/^Declared.what is generated by a sequence or an extension/),
    ]);
  });

  it('that a list or a scope names by mistake is an error of the compiler at the name', async () => {
    @Resource('test_misspelt', {
      // @ts-expect-error -- Did you mean '"name"'?
      counted: ['nmae'],
      // @ts-expect-error -- Did you mean '"name"'?
      filtered: ['name', 'nmae'],
      // @ts-expect-error -- Did you mean '"name"'?
      sorted: ['nmae'],
      // @ts-expect-error -- Did you mean '"name"'?
      scope: { columns: ['nmae'], where: () => ({}) },
    })
    class Misspelt {
      @PrimaryColumn(identifierColumn) id!: string;
      @Column('text') name!: string;
    }
    expect(await problemsOf(Misspelt)).toContainEqual(expect.stringContaining('nmae'));
  });

  it('that a scope or a list names is there, and stored', async () => {
    @Resource('test_scoped', {
      filtered: ['size'],
      scope: { columns: ['owner', 'team', 'id'], where: ({ clientID }) => ({ id: clientID }) },
    })
    class Scoped {
      @PrimaryColumn(identifierColumn)
      id!: string;

      @VirtualColumn({ type: 'varchar', query: () => `SELECT 'a'` })
      team!: string;

      get owner(): string {
        return this.id;
      }

      get size(): number {
        return this.id.length;
      }
    }
    expect(await problemsOf(Scoped)).toEqual([
      'Scoped.size is named in @Resource, and is no column',
      'Scoped.owner is named in @Resource, and is no column',
      'Scoped.team is computed for each object, so that no deletion can record it for the scope',
    ]);
  });

  it('that is derived is there, and so is what it is derived from', async () => {
    @Resource('test_derived', {
      derived: { size: ['gone' as 'size'], lost: ['id'] } as object,
    })
    class Derived {
      @PrimaryColumn(identifierColumn) id!: string;
      @Column('integer') size!: number;
    }
    expect(await problemsOf(Derived)).toEqual([
      'Derived.gone is named in @Resource, and is no column',
      'Derived.lost is named in @Resource, and is no column',
    ]);
  });

  it('that is computed is not counted', async () => {
    const column = VirtualColumn({ type: 'varchar', query: () => `SELECT 'a'` });
    expect(await problemsOf(withColumn(column, ['what']))).toEqual([
      'Declared.what is computed for each object, so that no index and no tally can hold it',
    ]);
  });

  it('may have any type if it is hidden', async () => {
    expect(await problemsOf(withColumn(Column({ type: 'bytea', select: false })))).toEqual([]);
  });

  it('of an external table is neither indexed, counted nor kept by the service', async () => {
    @Resource('test_external', {
      external: { schema: 'sales', name: 'items' },
      counted: ['name'],
      sorted: ['name'],
    })
    class External {
      @PrimaryColumn({ type: 'text' })
      id!: string;

      @Column({ type: 'text' })
      name!: string;

      @UpdateDateColumn({ type: 'timestamptz' })
      updatedAt!: Date;
    }
    expect(await problemsOf(External)).toEqual([
      'External.name cannot be counted, filtered, sorted or searched in @Resource, since the table is external: it has no tally, and the indexes that it has',
      'External.updatedAt is an @UpdateDateColumn, which no trigger of the service keeps in an external table: declare it with @Column',
    ]);
  });

  it('refers to no external table, where a migration would install triggers', async () => {
    @Resource('test_referred', { external: { schema: 'sales', name: 'items' } })
    class Referred {
      @PrimaryColumn({ type: 'text' })
      id!: string;
    }
    @Resource('test_referring')
    class Referring {
      @PrimaryColumn(identifierColumn)
      id!: string;

      @ForeignKey(() => Referred)
      @Column({ type: 'text' })
      referredID!: string;
    }
    expect(await problemsOf(Referring, Referred)).toEqual([
      'Referring.referredID has a @ForeignKey to Referred, whose table is external: a migration would install triggers there',
    ]);
  });

  it('identifies objects only byte by byte, and with 100 characters at most', async () => {
    for (const column of [
      { type: 'varchar', length: 100 },
      { ...identifierColumn, length: 101 },
      { type: 'real' },
    ] as const) {
      @Resource('test_identified')
      class Identified {
        @PrimaryColumn(column)
        id!: string;
      }
      expect(await problemsOf(Identified)).toEqual([
        'Identified.id identifies objects: give it identifierColumn, or the type integer, bigint or uuid',
      ]);
    }
  });
});

class Leaf {
  @IsString() text!: string;
  @IsInt({ each: true }) list!: number[];
  @Allow() any?: unknown;
}

class Branch {
  @ValidateNested()
  @TransformType(() => Leaf)
  leaf!: Leaf;
}

class Endless {
  @ValidateNested()
  @TransformType(() => Endless)
  next!: unknown;
}

class Faulty {
  bare!: string;
  @MaxLength(3) untyped!: string;
  @ValidateNested() unknown!: Leaf;
  @IsIn(['a', 1]) mixed!: string;
  @IsString() @Matches(/^a/) matched!: string;
  @IsString() @ValidateIf(() => true) depending!: string;
}

// eslint-disable-next-line @typescript-eslint/no-extraneous-class -- what is refused
class Empty {}

/** An entity with a column of type `jsonb`. */
function withJson(type: object, shape?: Type): Type {
  @Resource('test_declared')
  class Declared {
    @PrimaryColumn(identifierColumn)
    declaredID!: string;

    what!: object;
  }
  const { prototype } = Declared;
  // What the compiler says of the property.
  Reflect.defineMetadata('design:type', type, prototype, 'what');
  Column({ type: 'jsonb' })(prototype, 'what');
  if (shape) TransformType(() => shape)(prototype, 'what');
  return Declared;
}

describe('The shape of a column in JSON', () => {
  it('may be declared or not', async () => {
    expect(await problemsOf(withJson(Object))).toEqual([]);
    expect(await problemsOf(withJson(Branch, Branch))).toEqual([]);
    expect(await problemsOf(withJson(Array, Branch))).toEqual([]);
  });

  it('is not the class of the property alone', async () => {
    expect(await problemsOf(withJson(Leaf))).toEqual([
      'Declared.what is of the class Leaf: give it @Type(() => Leaf)',
    ]);
  });

  it('is refused by name if it cannot be described or checked', async () => {
    expect(await problemsOf(withJson(Endless, Endless))).toEqual([
      'Endless refers to itself, so that its shape has no end',
    ]);
    expect(await problemsOf(withJson(Empty, Empty))).toEqual(['Empty has no properties']);
    expect(await problemsOf(withJson(Faulty, Faulty))).toEqual([
      expect.stringMatching(/^Faulty.bare has no type: give it @IsString\(\), /),
      expect.stringMatching(/^Faulty.untyped has no type: /),
      'Faulty.unknown has @ValidateNested() without @Type(() => ItsClass)',
      expect.stringMatching(/^Faulty.mixed has no type: /),
      'Faulty.matched has @Matches: give it an example that matches, with @Meaning',
      'Faulty.depending has a decorator of class-validator that depends on other properties',
    ]);
  });
});

@QueryOf(Brand)
class UndecoratedDto extends ListQueryDto {
  @TextParam('The brands of this name.') name?: string;
  colour?: string;
}

class BareListDto extends ListQueryDto {}
class BareObjectDto extends ObjectQueryDto {}

class ForeignDto {
  colour?: string;
}

@QueryOf(Category)
class WrongListDto extends ListQueryDto {}

@QueryOf(Category)
class WrongObjectDto extends ObjectQueryDto {}

@QueryOf(Brand)
class RightDto extends ListQueryDto {}

@QueryOf(Brand)
class OverridingDto extends ListQueryDto {}
IntegerParam('More than one may ask for.')(OverridingDto.prototype, 'limit');

@QueryOf(Brand)
class DefaultDto extends ListQueryDto {
  @TextParam('The brands of this name.') name?: string = 'Acme';
  override limit = 20;
}

@QueryOf(Brand, { include: ['brandID'] })
class UnrelatedDto extends ListQueryDto {}

@Controller('test_overriding')
class OverridingController {
  @Get() list(@Query() query: OverridingDto): object {
    return query;
  }
}

@Controller('test_default')
class DefaultController {
  @Get() list(@Query() query: DefaultDto): object {
    return query;
  }
}

@Controller('test_unrelated')
class UnrelatedController {
  @Get() list(@Query() query: UnrelatedDto): object {
    return query;
  }
}

@Controller('test_hidden')
class HiddenController {
  @Get(':id') get(): object {
    return {};
  }

  @Get('newest') newest(): object {
    return {};
  }

  @Get(':id/parts') parts(): object {
    return {};
  }
}

@Controller('test_several')
class SeveralController {
  @Get(['one', 'other']) list(): object {
    return {};
  }
}

@Controller('test_undecorated')
class UndecoratedController {
  @Get() list(@Query() query: UndecoratedDto): object {
    return query;
  }
}

@Controller('test_bare_list')
class BareListController {
  @Get() list(@Query() query: BareListDto): object {
    return query;
  }
}

@Controller('test_bare_object')
class BareObjectController {
  @Get(':id') get(@Query() query: BareObjectDto): object {
    return query;
  }
}

@Controller('test_foreign')
class ForeignController {
  @Get() list(@Query() query: ForeignDto): object {
    return query;
  }
}

@Controller('test_single')
class SingleController {
  @Get() list(@Query('colour') colour: string): object {
    return { colour };
  }
}

@Controller('test_two')
class TwoController {
  @Get() list(@Query() one: RightDto, @Query() other: RightDto): object {
    return { one, other };
  }
}

@Controller('test_response')
class ResponseController {
  @Get() list(@Res() response: { end(): void }): void {
    response.end();
  }
}

@Controller('test_own')
class OwnController {
  @Get('redirect') @Redirect('/brands') redirect(): object {
    return {};
  }

  @Sse('events') events(): object {
    return {};
  }

  @Get('page') @Render('page') page(): object {
    return {};
  }

  @Get('accepted') @HttpCode(202) accepted(): object {
    return {};
  }
}

class GeneralController {
  @Get('newest') newest(): object {
    return {};
  }

  @Get('oldest') oldest(): object {
    return {};
  }
}

@Controller('test_unknown')
class UnknownController extends GeneralController {
  override oldest(): object {
    return super.oldest();
  }

  @All('all') all(): object {
    return {};
  }

  @Post('posted') post(): object {
    return {};
  }

  @Version('2') @Get('versioned') versioned(): object {
    return {};
  }
}

@Controller({ path: 'test_hosted', host: 'example.com', version: '1' })
class HostedController {
  @Get() list(): object {
    return {};
  }
}

@QueryOf(Brand)
class TransformedDto extends ListQueryDto {
  @Transform(({ value }) => String(value).trim())
  @TextParam('The brands of this name.')
  name?: string;

  @TextParam('The brands of this code.')
  @Exclude()
  code?: string;

  @Expose({ name: 'other' }) @TextParam('The brands of this sign.') sign?: string;

  @TransformType(() => Number) @IntegerParam('The brands of this size.') size?: number;
}

@Controller('test_transformed')
class TransformedController {
  @Get() list(@Query() query: TransformedDto): object {
    return query;
  }
}

@Controller('test_patterns')
class PatternsController {
  @Get('all/*path') all(): object {
    return {};
  }

  @Get('maybe{/:id}') maybe(): object {
    return {};
  }

  @Get(':id/of/:id') twice(): object {
    return {};
  }

  @Get(':größe') letters(): object {
    return {};
  }

  @Get(':id.json/~v1,a-b/:other') fixed(@Param('other') other: string): object {
    return { other };
  }

  @Get('of/:country') misspelt(@Param('county') county: string): object {
    return { county };
  }

  @Header('Content-type', 'text/plain') @Get('text') text(): object {
    return {};
  }
}

class Transformed {
  @Exclude() @IsString() secret!: string;
  @Expose({ name: 'other' }) @IsString() named!: string;
  @Transform(() => 'one') @IsString() changed!: string;
}

@Controller('test_returning')
class ReturningController {
  @Returns([Transformed] as never) @Get('list') list(): object {
    return {};
  }

  @Returns(undefined as never) @Get('nothing') nothing(): object {
    return {};
  }

  @Returns((() => Transformed) as never) @Get('lazy') lazy(): object {
    return {};
  }

  @Returns(Transformed) @Get('transformed') transformed(): object {
    return {};
  }
}

/** As another module calls it. */
function namedAlike(): Type {
  @Controller('test_alike')
  class AlikeController {
    @Get() list(): object {
      return {};
    }
  }
  return AlikeController;
}

@Module({
  // Imported twice.
  imports: [ListModule.forFeature(Brand), ListModule.forFeature(Brand)],
  controllers: [namedAlike(), namedAlike()],
})
class AlikeModule {}

@Controller('test_passing')
class PassingController {
  @Get() list(
    @Res({ passthrough: true }) response: { setHeader(...header: string[]): void },
  ): object {
    response.setHeader('X-Own', 'header');
    return {};
  }
}

@QueryOf(Brand)
class SayingDto extends ListQueryDto {
  @TextParam('Of this name.', { reads: ['name', 'categories.name'] }) a?: string;
  @TextParam('Of this name.', { reads: ['name', 'title'] }) b?: string;
  @TextParam('Of this name.', { reads: ['colours.name'] }) c?: string;
}

@Controller('test_saying')
class SayingController {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  @Get() list(@Query() query: SayingDto): Listing {
    const ofName = (name: string) => ({ name });
    return listOf(this.brands, query, { a: ofName, b: ofName, c: ofName });
  }
}

@Controller('test_wrong_list')
class WrongListController {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  @Get() list(@Query() query: WrongListDto): Listing {
    return listOf(this.brands, query);
  }
}

@Controller('test_wrong_object')
class WrongObjectController {
  constructor(@InjectRepository(Brand) private readonly brands: Repository<Brand>) {}

  @Get(':id') get(@Query() query: WrongObjectDto): ObjectLookup {
    return objectOf(this.brands, 'b', query);
  }
}

enum Size {
  SMALL = 'SMALL',
}
enum OtherSize {
  SMALL = 'SMALL',
  LARGE = 'LARGE',
}

@Resource('test_fitted')
class Fitted {
  @PrimaryColumn(identifierColumn) fittedID!: string;
  @Column('integer') stock!: number;
  @Column('bigint') big!: string;
  @Column('uuid') token!: string;
  @Column('numeric') price!: string;
  @Column('double precision') weight!: number;
  @Column('boolean') active!: boolean;
  @Column('date') day!: string;
  @Column('timestamptz') sentAt!: Date;
  @Column({ type: 'enum', enum: Size }) size!: Size;
  @Column({ type: 'integer', array: true }) numbers!: number[];
  @Column({ type: 'text', array: true }) texts!: string[];
  @Column('text') text!: string;
  @Column('jsonb') json!: Leaf;
}
TransformType(() => Leaf)(Fitted.prototype, 'json');

/**
 * A list with one filter, which compares a column.
 *
 * @param condition that of the filter `value`, or the name of a filter without a condition
 * @param isInherited whether the query class inherits the filter
 */
function withFilter(
  decorate: PropertyDecorator,
  condition: ((value: unknown) => object) | string,
  path = '',
  isInherited = false,
): Type {
  class BaseDto extends ListQueryDto {
    declare value?: unknown;
  }
  class FittedDto extends BaseDto {}
  const { prototype } = isInherited ? BaseDto : FittedDto;
  decorate(prototype, typeof condition === 'string' ? condition : 'value');
  QueryOf(Fitted)(FittedDto);
  class FittedController {
    constructor(readonly fitted: Repository<Fitted>) {}

    list(query: FittedDto, params: { of?: string }): Listing {
      if (params.of !== undefined) query.value = params.of;
      const value = typeof condition === 'string' ? () => ({}) : condition;
      return listOf<Fitted, FittedDto>(this.fitted, query, { value });
    }
  }
  InjectRepository(Fitted)(FittedController, undefined, 0);
  Reflect.defineMetadata('design:paramtypes', [Repository], FittedController);
  Reflect.defineMetadata(
    'design:paramtypes',
    [FittedDto, Object],
    FittedController.prototype,
    'list',
  );
  Query()(FittedController.prototype, 'list', 0);
  Param()(FittedController.prototype, 'list', 1);
  const handler = Object.getOwnPropertyDescriptor(FittedController.prototype, 'list');
  Get(path)(FittedController.prototype, 'list', handler ?? {});
  Controller('test_fitted')(FittedController);
  @Module({ imports: [TypeOrmModule.forFeature([Fitted])], controllers: [FittedController] })
  class FittedModule {}
  return FittedModule;
}

describe('A filter', () => {
  const meaning = 'Some of them.';
  it.each<[string, PropertyDecorator, (value: unknown) => object, string]>([
    ['a text', TextParam(meaning), (stock) => ({ stock }), 'stock, of type integer, with a'],
    [
      'texts',
      TextsParam(meaning),
      (all) => ({ token: Any(all as []) }),
      'token, of type uuid, with a',
    ],
    ['a text', TextParam(meaning), (day) => ({ day: Not(day) }), 'day, of type date, with a'],
    [
      'a text',
      TextParam(meaning),
      (all) => ({ text: 'a', numbers: ArrayOverlap([all]) }),
      'numbers, of type integer[], with a',
    ],
    [
      'a pattern',
      IntegerParam(meaning),
      (stock) => ({ stock: Like(stock) }),
      'stock, of type integer, with a pattern of a text',
    ],
    [
      'dates',
      DateParam(meaning),
      (price) => ({ price: Between(price, price) }),
      'price, of type numeric, with 2026-11-21',
    ],
    ['a number', IntegerParam(meaning), (day) => ({ day }), 'day, of type date, with 1'],
    [
      'a number',
      IntegerParam(meaning),
      (sentAt) => [{ text: '' }, { sentAt }],
      'sentAt, of type timestamptz, with 1',
    ],
    [
      'a fraction',
      NumberParam(meaning),
      (stock) => ({ stock: Or(MoreThan(stock), IsNull()) }),
      'stock, of type integer, with 2.5',
    ],
    [
      'a larger integer',
      BigintParam(meaning),
      (stock) => ({ stock }),
      'stock, of type integer, with 9223372036854775807',
    ],
    [
      'another enumeration',
      EnumsParam(meaning, OtherSize),
      (size) => ({ size: Any(size as []) }),
      'size, of type enum, with LARGE',
    ],
    [
      'a boolean',
      BooleanParam(meaning),
      (weight) => ({ weight }),
      'weight, of type double precision, with true',
    ],
    [
      'a number',
      IntegerParam(meaning),
      (active) => ({ active }),
      'active, of type boolean, with 1',
    ],
    [
      'a number',
      IntegerParam(meaning),
      (text) => ({ text }),
      'text, of type text, with 1: @TextParam or @TextsParam fits',
    ],
    [
      'numbers',
      IntegersParam(meaning),
      (all) => ({ text: Any(all as []) }),
      'text, of type text, with 1',
    ],
    [
      'a boolean',
      BooleanParam(meaning),
      (text) => ({ text: Not(text) }),
      'text, of type text, with true',
    ],
    [
      'a time',
      DateTimeParam(meaning),
      (text) => ({ text: MoreThan(text) }),
      'text, of type text, with ',
    ],
    [
      'a text',
      TextParam(meaning),
      (stock) => ({ stock }),
      'stock, of type integer, with a: @SignedIntegerParam or @IntegersParam fits',
    ],
  ])(
    'that compares a column with %s of another type is refused: %#',
    async (_, param, condition, what) => {
      expect(await calledWith(withFilter(param, condition))).toContainEqual(
        expect.stringContaining(`the filter value at /test_fitted compares Fitted.${what}`),
      );
    },
  );

  it('that excludes items of another type is refused', async () => {
    expect(await calledWith(withFilter(IntegersParam(meaning), 'textsNot'))).toContainEqual(
      expect.stringContaining(
        'the filter textsNot at /test_fitted compares Fitted.texts, of type text[], with 1: @TextParam or @TextsParam fits',
      ),
    );
  });

  const ofArray = ': an operator for arrays fits, such as ArrayOverlap';
  const ofJson = ': a generated column of a value within it fits';
  it.each<[PropertyDecorator, ((value: unknown) => object) | string, string]>([
    [TextParam(meaning), (texts) => ({ texts }), `texts, of type text[], with a${ofArray}`],
    [
      TextParam(meaning),
      (text) => ({ texts: Like(text) }),
      `texts, of type text[], with a pattern of a text${ofArray}`,
    ],
    [TextParam(meaning), 'json', `json, of type jsonb, with a${ofJson}`],
    [TextsParam(meaning), 'jsonNot', `json, of type jsonb, with a${ofJson}`],
    [IntegersParam(meaning), 'json', `json, of type jsonb, with 1${ofJson}`],
    [BooleanParam(meaning), 'json', `json, of type jsonb, with true${ofJson}`],
    [DateTimeParam(meaning), (json) => ({ json }), 'json, of type jsonb, with '],
    [EnumParam(meaning, Size), (json) => ({ json: Not(json) }), 'json, of type jsonb, with SMALL'],
    [
      TextParam(meaning),
      (text) => ({ json: Like(text) }),
      `json, of type jsonb, with a pattern of a text${ofJson}`,
    ],
  ])(
    'that compares an array or JSON as one value is refused, with what fits: %#',
    async (param, condition, what) => {
      const filter = typeof condition === 'string' ? condition : 'value';
      expect(await calledWith(withFilter(param, condition))).toContainEqual(
        expect.stringContaining(`the filter ${filter} at /test_fitted compares Fitted.${what}`),
      );
    },
  );

  it.each<[PropertyDecorator, ((value: unknown) => object) | string]>([
    [TextsParam(meaning), 'texts'],
    [TextParam(meaning), 'texts'],
    [IntegersParam(meaning), 'numbers'],
    [TextsParam(meaning), 'textsNot'],
    [IntegersParam(meaning), 'numbersNot'],
    [BooleanParam(meaning), 'textsExists'],
    [BooleanParam(meaning), 'numbersExists'],
    [TextsParam(meaning), (texts) => ({ texts: Not(ArrayOverlap(texts as [])) })],
    [TextsParam(meaning), (texts) => ({ texts: Or(ArrayContains(texts as []), IsNull()) })],
    [TextsParam(meaning), (texts) => ({ texts: Equal(texts) })],
    [BooleanParam(meaning), 'jsonExists'],
    [TextParam(meaning), (text) => ({ json: JsonContains({ text }) })],
  ])('may ask for items of an array and for what JSON contains: %#', async (param, condition) => {
    expect(await calledWith(withFilter(param, condition))).toEqual([]);
  });

  it.each<[PropertyDecorator, string]>([
    [SignedIntegerParam(meaning), 'stock'],
    [IntegerParam(meaning), 'big'],
    [BigintParam(meaning), 'big'],
    [UuidParam(meaning), 'token'],
    [IntegerParam(meaning), 'price'],
    [NumberParam(meaning), 'price'],
    [SignedDecimalParam(meaning), 'weight'],
    [BooleanParam(meaning), 'active'],
    [DateParam(meaning), 'day'],
    [DateTimeParam(meaning), 'day'],
    [DateParam(meaning), 'sentAt'],
    [DateTimeParam(meaning), 'sentAt'],
    [EnumParam(meaning, Size), 'size'],
    [SignedDecimalParam(meaning), 'text'],
  ])('may compare a column with any value that it can have: %#', async (param, column) => {
    const condition = (value: unknown) => ({ [column]: MoreThan(value) });
    expect(await calledWith(withFilter(param, condition))).toEqual([]);
  });

  it('that a query class inherits is checked like its own', async () => {
    const module = withFilter(TextParam(meaning), (stock) => ({ stock }), '', true);
    expect(await calledWith(module)).toContainEqual(
      expect.stringContaining('compares Fitted.stock, of type integer, with a'),
    );
  });

  it.each(['stock', 'token', 'price', 'active', 'day', 'sentAt', 'size'])(
    'from the path is tried with a value of its column %s',
    async (column) => {
      const module = withFilter(TextParam(meaning), (value) => ({ [column]: value }), ':of');
      expect(await calledWith(module)).toEqual([]);
    },
  );
});

describe('A handler', () => {
  it.each<[string, Type, string]>([
    [
      'whose query class has a property without a decorator',
      withController(UndecoratedController),
      'UndecoratedDto.colour has no decorator of a parameter, such as @TextParam',
    ],
    [
      'of a list whose query class has no @QueryOf',
      withController(BareListController),
      'BareListDto has no @QueryOf',
    ],
    [
      'of an object whose query class has no @QueryOf',
      withController(BareObjectController),
      'BareObjectDto has no @QueryOf',
    ],
    [
      'whose query class is of another kind',
      withController(ForeignController),
      'ForeignDto of ForeignController.list extends neither ListQueryDto, ObjectQueryDto nor CredentialsQueryDto',
    ],
    [
      'whose query class is imported as a type',
      UntypedModule,
      'The class of @Query() of UntypedController.list is not there at run time: import it without "type"',
    ],
    [
      'with @Query of one name',
      withController(SingleController),
      "SingleController.list has @Query('colour'): declare colour in a query class, for @Query()",
    ],
    [
      'with two query classes',
      withController(TwoController),
      'TwoController.list has more than one @Query()',
    ],
    [
      'that answers by itself',
      withController(ResponseController),
      'ResponseController.list takes @Res() or @Next(): a handler returns its answer, which has status 200',
    ],
    [
      'whose response is not in the envelope, or has another status',
      withController(OwnController),
      [
        'OwnController.redirect has @Redirect()',
        'OwnController.events has @Sse()',
        'OwnController.page has @Render()',
        'OwnController.accepted has @HttpCode()',
      ]
        .map((handler) => `${handler}: a handler returns its answer, which has status 200`)
        .join('; '),
    ],
    [
      'of another method, inherited, or with a version',
      withController(UnknownController),
      [
        'UnknownController.all has @All(): resources are only read, with @Get()',
        'UnknownController.post has @Post(): resources are only read, with @Get()',
        'UnknownController.versioned has a version: give another version a path of its own',
        'UnknownController.newest is inherited from GeneralController: declare it in UnknownController, where it may call super.newest()',
      ].join('; '),
    ],
    [
      'of a controller with a host and a version',
      withController(HostedController),
      'HostedController has a host: the service has the same paths for every host; HostedController has a version: give another version a path of its own',
    ],
    [
      'whose query class has decorators of class-transformer',
      withController(TransformedController),
      ['size has @Type', 'name has @Transform', 'sign has @Expose', 'code has @Exclude']
        .map(
          (property) =>
            `TransformedDto.${property}, which no list applies: convert the value in the condition of the filter`,
        )
        .join('; '),
    ],
    [
      'whose query class declares a parameter of every list',
      withController(OverridingController),
      'OverridingDto.limit is a parameter of ListQueryDto, which no other class declares',
    ],
    [
      'whose query class has a value that no request has sent',
      withController(DefaultController),
      'DefaultDto.limit has a default value, which would apply as if every request had sent it; ' +
        'DefaultDto.name has a default value, which would apply as if every request had sent it: let the handler set it',
    ],
    [
      'whose query class includes what a column does not refer to',
      withController(UnrelatedController),
      'Brand.brandID has no @ForeignKey',
    ],
    [
      'whose filters say that they read what is no column',
      withController(SayingController),
      'SayingDto.b reads title, which is no column; SayingDto.c reads colours.name, which is no column',
    ],
    [
      'that another one hides',
      withController(HiddenController),
      'HiddenController.newest at /test_hidden/newest is never called: HiddenController.get comes before it, at /test_hidden/:id',
    ],
    [
      'with several paths',
      withController(SeveralController),
      'SeveralController.list has several paths: a handler has one',
    ],
    [
      'with the name and the path of another one',
      AlikeModule,
      'AlikeController.list at /test_alike is never called: AlikeController.list comes before it, at /test_alike',
    ],
    [
      'with a pattern as its path, a parameter that its path does not have, or a type of its own',
      withController(PatternsController),
      [
        "PatternsController.text has @Header('Content-type'): the service says itself how it sends a response",
        ...[
          'all at /test_patterns/all/*path',
          'maybe at /test_patterns/maybe{/:id}',
          'twice at /test_patterns/:id/of/:id',
          'letters at /test_patterns/:größe',
        ].map(
          (of) =>
            `PatternsController.${of} has a wildcard or the like: a path has fixed parts and parameters such as :id, each once`,
        ),
        "PatternsController.misspelt takes @Param('county'), which its path /test_patterns/of/:country does not have",
      ].join('; '),
    ],
    [
      'that returns no class, or one with decorators of class-transformer',
      withController(ReturningController),
      [
        ...['list', 'nothing', 'lazy'].map(
          (method) =>
            `ReturningController.${method} has @Returns without a class: give it that of one object, also for a list`,
        ),
        ...['changed has @Transform', 'named has @Expose', 'secret has @Exclude'].map(
          (what) =>
            `ReturningController.transformed returns a class: Transformed.${what}, which nothing applies: declare what the JSON has`,
        ),
      ].join('; '),
    ],
  ])('%s is refused at the start, by name', async (_, module, message) => {
    expect((await refusalOf(module))?.message).toBe(message);
  });

  it.each([
    ['a list', WrongListController, 'WrongListController.list: WrongListDto'],
    ['an object', WrongObjectController, 'WrongObjectController.get: WrongObjectDto'],
  ])('of %s of another entity is told by name', async (_, controller, name) => {
    expect(await calledWith(withController(controller))).toEqual([
      `${name} is @QueryOf(Category), and its handler reads Brand`,
    ]);
  });

  it('has a query class that declares each parameter once', () => {
    const param = TextParam('The brands of this name.');
    const declare = (name: string, ...decorators: PropertyDecorator[]) => {
      class RepeatedDto extends ListQueryDto {}
      for (const decorate of decorators) decorate(RepeatedDto.prototype, name);
      QueryOf(Brand)(RepeatedDto);
    };
    expect(() => {
      declare('name', param, IntegerParam('Another one.'));
    }).toThrow('RepeatedDto.name is declared twice as a parameter');
    for (const name of ['fields', 'after', 'sort', 'include']) {
      expect(() => {
        declare(name, param);
      }).toThrow(`RepeatedDto declares ${name}, which @QueryOf declares once`);
    }
  });

  it('may set headers of a response', async () => {
    expect(await refusalOf(withController(PassingController))).toBeUndefined();
  });
});

it('Everything that is wrong is named at once, also of entities', async () => {
  const entity = withColumn(Column('real'));
  @Module({
    // Behind the other tests: Nest keeps the entities of a process.
    imports: [TypeOrmModule.forFeature([entity])],
    controllers: [BareListController, UndecoratedController],
  })
  class AllModule {}
  const { message = '' } = (await refusalOf(AllModule)) ?? {};
  expect(message.split('; ').map((line) => line.split(' ', 1)[0])).toEqual([
    'Declared.what',
    'BareListDto',
    'UndecoratedDto.colour',
  ]);
});
