import { Controller, Get, Injectable, Module, Param, Query } from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  Any,
  Column,
  CreateDateColumn,
  MoreThanOrEqual,
  PrimaryColumn,
  Repository,
  UpdateDateColumn,
} from 'typeorm';
import type { Page } from '#server/http/envelope.js';
import {
  BooleanParam,
  identifierColumn,
  IdentifiersParam,
  type Listing,
  listOf,
  ListQueryDto,
  type ObjectLookup,
  objectOf,
  ObjectQueryDto,
  QueryOf,
  Resource,
  SignedDecimalParam,
  TextParam,
  timeColumn,
} from '@catalogue/server';

/** A resource for tests of the list engine. A project may have a class Supplier of its own. */
@Resource('test_suppliers', { counted: ['country', 'active'] })
export class TestSupplier {
  @PrimaryColumn(identifierColumn)
  supplierID!: string;

  @Column({ type: 'varchar', length: 2, nullable: true })
  country!: string | null;

  @Column({ type: 'numeric', nullable: true })
  rating!: string | null;

  @Column({ type: 'boolean', default: true })
  active!: boolean;

  @Column({ type: 'jsonb', nullable: true })
  address!: object | null;

  @Column({ type: 'varchar', length: 100, select: false, nullable: true })
  secret!: string | null;

  @CreateDateColumn(timeColumn)
  createdAt!: Date;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(TestSupplier)
export class GetSupplierDto extends ObjectQueryDto {}

@QueryOf(TestSupplier, { sort: ['supplierID', 'rating'] })
export class ListSuppliersDto extends ListQueryDto {
  @IdentifiersParam('The suppliers with these identifiers.') supplierID?: string[];
  @TextParam('The suppliers of this country.', { maximum: 2 }) country?: string;
  @SignedDecimalParam('The suppliers rated at least so.') rated?: string;
  @BooleanParam('The suppliers that are active, or that are not.') active?: boolean;
}

@Injectable()
export class SuppliersService {
  constructor(
    @InjectRepository(TestSupplier) private readonly suppliers: Repository<TestSupplier>,
  ) {}

  list(query: ListSuppliersDto): Listing {
    return listOf(this.suppliers, query, {
      rated: (minimum) => ({ rating: MoreThanOrEqual(minimum) }),
    });
  }

  get(supplierID: string, query: GetSupplierDto): ObjectLookup {
    return objectOf(this.suppliers, supplierID, query);
  }

  /** Never called. The compiler must reject each line with a directive. */
  mistakes(query: ListSuppliersDto): unknown[] {
    const right = {
      supplierID: (supplierIDs: string[]) => ({ supplierID: Any(supplierIDs) }),
      rated: (minimum: string) => ({ rating: MoreThanOrEqual(minimum) }),
    };
    return [
      listOf(this.suppliers, query, right),
      // @ts-expect-error -- no condition for a filter that names no column
      listOf(this.suppliers, query, { supplierID: right.supplierID }),
      // @ts-expect-error -- the same, without the argument
      listOf(this.suppliers, query),
      // @ts-expect-error -- a condition without a filter
      listOf(this.suppliers, query, { ...right, active: () => ({}), nonsense: () => ({}) }),
      // @ts-expect-error -- a column that does not exist
      listOf(this.suppliers, query, { ...right, active: (active) => ({ aktive: active }) }),
      // @ts-expect-error -- a value of another type
      listOf(this.suppliers, query, { ...right, active: (active) => ({ country: active }) }),
    ];
  }
}

@Controller('test_suppliers')
export class SuppliersController {
  constructor(private readonly suppliers: SuppliersService) {}

  @Get()
  list(@Query() query: ListSuppliersDto): Listing {
    return this.suppliers.list(query);
  }

  @Get('best')
  best(): ObjectLookup {
    return this.suppliers.get('b', {});
  }

  @Get('broken')
  broken(): Promise<Page> {
    return Promise.reject(new Error('secret of the house'));
  }

  @Get(':supplierID')
  get(@Param('supplierID') supplierID: string, @Query() query: GetSupplierDto): ObjectLookup {
    return this.suppliers.get(supplierID, query);
  }
}

@Module({
  imports: [TypeOrmModule.forFeature([TestSupplier])],
  controllers: [SuppliersController],
  providers: [SuppliersService],
})
export class SuppliersModule {}
