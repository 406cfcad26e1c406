import { Controller, Get, Module, Param, Query, type Type } from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { Column, DataSource, MoreThanOrEqual, PrimaryColumn } from 'typeorm';
import {
  BigintsParam,
  BooleanParam,
  EnumsParam,
  IdentifiersParam,
  IntegersParam,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  type ObjectLookup,
  objectOf,
  ObjectQueryDto,
  QueryOf,
  SignedDecimalParam,
} from '../../src/list/index.js';
import { Meaning, Resource } from '../../src/resource/index.js';
import { createDatabase } from '../database/database.js';
import { type Service, startService } from '../service.js';

export enum WareState {
  New = 'new',
  Sold = 'sold out',
}

/** The resources, each with what it lists: a table, and a partitioned one with another type of key. */
export const TRACKED = { test_wares: 'wares', test_parted_wares: 'parted_wares' } as const;

type TrackedResource = keyof typeof TRACKED;

/** The statement of the migration of each resource. */
export const TRACK: Readonly<Record<TrackedResource, string>> = {
  test_wares: `SELECT track_table('test_wares', '"Shop"."wares"', 'ware_id', '{state,shelf,state+active}', '{}')`,
  test_parted_wares: `SELECT track_table('test_parted_wares', '"Shop"."parted_wares"', 'ware_id', '{state,shelf,state+active}', '{}')`,
};

/** Their entities. */
export const WARES = new Map<TrackedResource, Type>();

function waresModule(resource: TrackedResource): Type {
  const isParted = resource === 'test_parted_wares';
  const identifiers = isParted ? BigintsParam : IdentifiersParam;

  @Resource(resource, {
    external: { schema: 'Shop', name: TRACKED[resource], tracked: true },
    counted: ['state', 'shelf', ['state', 'active']],
  })
  class Ware {
    @Meaning('Identifies the ware.')
    @PrimaryColumn({ type: isParted ? 'bigint' : 'text' })
    ware_id!: string;

    @Meaning('The state of the ware.')
    @Column({ type: 'enum', enum: WareState })
    state!: WareState;

    @Meaning('Whether the ware is offered.')
    @Column({ type: 'boolean', nullable: true })
    active!: boolean | null;

    @Meaning('The shelf of the ware.')
    @Column({ type: 'integer', nullable: true })
    shelf!: number | null;

    @Meaning('The price of the ware.')
    @Column({ type: 'numeric', nullable: true })
    price!: string | null;
  }

  @QueryOf(Ware)
  class GetWareDto extends ObjectQueryDto {}

  @QueryOf(Ware, { sort: ['ware_id', 'state', 'price'] })
  class ListWaresDto extends ListQueryDto {
    @identifiers('The wares with these identifiers.') ware_id?: string[];
    @EnumsParam('The wares in these states.', WareState) state?: WareState[];
    @BooleanParam('The wares that are offered.') active?: boolean;
    @IntegersParam('The wares on these shelves.') shelf?: number[];
    @SignedDecimalParam('The wares of at least this price.') priceMin?: string;
  }

  @Controller(resource)
  class WaresController {
    constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

    @Get()
    list(@Query() query: ListWaresDto): Listing {
      return listOf(this.dataSource.getRepository(Ware), query, {
        priceMin: (minimum) => ({ price: MoreThanOrEqual(minimum) }),
      });
    }

    @Get(':ware_id')
    get(@Param('ware_id') identifier: string, @Query() query: GetWareDto): ObjectLookup {
      return objectOf(this.dataSource.getRepository(Ware), identifier, query);
    }
  }

  @Module({ imports: [ListModule.forFeature(Ware)], controllers: [WaresController] })
  class WaresModule {}

  WARES.set(resource, Ware);
  Object.defineProperty(Ware, 'name', { value: `Tracked${resource}` });
  Object.defineProperty(WaresController, 'name', { value: `Tracked${resource}Controller` });
  return WaresModule;
}

@Module({ imports: (Object.keys(TRACKED) as TrackedResource[]).map(waresModule) })
class TrackedModule {}

const COLUMNS = `state "Shop".state NOT NULL, active boolean, shelf integer, price numeric(9,2), note text`;

/** What the owner of the tables has created, with a BEFORE trigger that changes what is written. */
const TABLES = [
  `CREATE TYPE "Shop".state AS ENUM ('new', 'sold out')`,
  `CREATE TABLE "Shop".wares (ware_id text COLLATE "C" PRIMARY KEY, ${COLUMNS})`,
  `CREATE TABLE "Shop".parted_wares (ware_id bigint PRIMARY KEY, ${COLUMNS}) PARTITION BY RANGE (ware_id)`,
  // Its columns are in another order, and one was dropped.
  `CREATE TABLE "Shop".low_wares (gone integer, note text, price numeric(9,2), shelf integer, active boolean,
     state "Shop".state NOT NULL, ware_id bigint NOT NULL)`,
  'ALTER TABLE "Shop".low_wares DROP gone',
  'ALTER TABLE "Shop".parted_wares ATTACH PARTITION "Shop".low_wares FOR VALUES FROM (MINVALUE) TO (1000)',
  'CREATE TABLE "Shop".high_wares PARTITION OF "Shop".parted_wares FOR VALUES FROM (1000) TO (MAXVALUE)',
  ...Object.values(TRACKED).flatMap((table) => [
    `CREATE INDEX ON "Shop".${table} (state)`,
    `CREATE INDEX ON "Shop".${table} (active)`,
    `CREATE INDEX ON "Shop".${table} (shelf)`,
    `CREATE INDEX ON "Shop".${table} (price, ware_id)`,
  ]),
  `CREATE FUNCTION "Shop".round_shelf() RETURNS trigger LANGUAGE plpgsql AS
   'BEGIN IF NEW.shelf < 0 THEN NEW.shelf := NULL; END IF; RETURN NEW; END'`,
  `CREATE TRIGGER round_shelf BEFORE INSERT OR UPDATE ON "Shop".wares
   FOR EACH ROW EXECUTE FUNCTION "Shop".round_shelf()`,
];

/** Gives everything in a database to a role, except for what extensions have: also the stand-ins of a project. */
function ownedBy(role: string): string {
  return `DO $do$ DECLARE object text; BEGIN
    FOR object IN
      WITH own AS (SELECT oid FROM pg_namespace WHERE nspname !~ '^(pg_|information_schema$|Shop$)')
      SELECT 'SCHEMA ' || oid::regnamespace FROM own
      UNION ALL SELECT format('%s %s', CASE relkind WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END, oid::regclass) FROM pg_class
      WHERE relnamespace IN (SELECT oid FROM own) AND relkind IN ('r', 'v', 'S')
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_class.oid AND deptype IN ('a', 'i', 'e'))
      UNION ALL SELECT 'TYPE ' || oid::regtype FROM pg_type
      WHERE typnamespace IN (SELECT oid FROM own) AND typtype = 'e'
      UNION ALL SELECT 'ROUTINE ' || oid::regprocedure FROM pg_proc WHERE pronamespace IN (SELECT oid FROM own)
      AND NOT EXISTS (SELECT FROM pg_depend WHERE objid = pg_proc.oid AND deptype = 'e')
    LOOP
      EXECUTE format('ALTER %s OWNER TO ${role}', object);
    END LOOP;
  END $do$`;
}

/** The service as a user without rights of its own, over tables of another user. */
export interface TrackedService extends Service {
  /** A connection of the owner of the tables, who may not use the schema of the service. */
  readonly owner: Client;
  /** A connection of a superuser. */
  readonly administrator: Client;
  /** The name of the user of the service, and that of the owner. */
  readonly roles: { readonly service: string; readonly owner: string };
  /** The database of the owner. */
  readonly ownerUrl: string;
  /** What the owner lets the user of the service do. */
  grant(): Promise<void>;
}

/** Writes objects as their owner. */
export async function fillAsOwner(
  { owner }: TrackedService,
  resource: string,
  objects: readonly Record<string, unknown>[],
): Promise<void> {
  const table = `"Shop".${TRACKED[resource as TrackedResource]}`;
  await owner.query(
    `INSERT INTO ${table} SELECT * FROM json_populate_recordset(NULL::${table}, $1)`,
    [JSON.stringify(objects)],
  );
}

/**
 * Creates the database with both users and the tables of the owner.
 *
 * @param modules further resources over these tables
 */
export async function startTracked(
  { isGranted = true }: { readonly isGranted?: boolean } = {},
  ...modules: Type[]
): Promise<TrackedService> {
  const database = await createDatabase();
  const suffix = randomBytes(4).toString('hex');
  const roles = { service: `catalogue_${suffix}`, owner: `shop_${suffix}` };
  const administrator = new Client(database.url);
  await administrator.connect();
  const urlOf = (role: string): string => {
    const url = new URL(database.url);
    url.username = role;
    url.password = suffix;
    return url.href;
  };
  const run = async (client: Client, statements: readonly string[]): Promise<void> => {
    for (const statement of statements) await client.query(statement);
  };
  await run(administrator, [
    ...Object.values(roles).map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${suffix}'`),
    `ALTER DATABASE ${administrator.database} OWNER TO ${roles.service}`,
    `CREATE SCHEMA "Shop" AUTHORIZATION ${roles.owner}`,
    'REVOKE ALL ON SCHEMA public FROM PUBLIC',
    ownedBy(roles.service),
  ]);
  const owner = new Client(urlOf(roles.owner));
  await owner.connect();
  await run(owner, TABLES);
  const grant = async (): Promise<void> => {
    await run(owner, [
      `GRANT USAGE ON SCHEMA "Shop" TO ${roles.service}`,
      `GRANT SELECT, TRIGGER ON ALL TABLES IN SCHEMA "Shop" TO ${roles.service}`,
    ]);
  };
  if (isGranted) await grant();
  const service = await startService(
    { DATABASE_URL: urlOf(roles.service) },
    TrackedModule,
    ...modules,
  );
  if (isGranted) {
    for (const statement of Object.values(TRACK)) await service.dataSource.query(statement);
  }
  return {
    ...service,
    owner,
    administrator,
    roles,
    ownerUrl: urlOf(roles.owner),
    grant,
    stop: async () => {
      await service.stop();
      await owner.end();
      await administrator.end();
      await database.drop();
      const server = new Client(process.env.TEST_SERVER_URL);
      await server.connect();
      await run(server, [`DROP ROLE ${roles.service}`, `DROP ROLE ${roles.owner}`]);
      await server.end();
    },
  };
}
