import { afterAll, beforeAll, expect, it } from '@jest/globals';
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Module,
  Query,
  UseGuards,
} from '@nestjs/common';
import { InjectDataSource } from '@nestjs/typeorm';
import type { Request } from 'express';
import { setTimeout as sleep } from 'node:timers/promises';
import { Column, DataSource, PrimaryColumn } from 'typeorm';
import { ClientsService } from '../../src/clients/clients.service.js';
import { type Listing, ListModule, listOf, ListQueryDto, QueryOf } from '../../src/list/index.js';
import { Meaning, Resource } from '../../src/resource/index.js';
import { differences } from '../../src/schema/differences.js';
import { migrationChanges } from '../../src/schema/parts/parts.js';
import { findViolations } from '../../src/verify/verify.js';
import { startTracked, TRACK, type TrackedService, WareState } from './tracked.fixture.js';

/** Each client sees the new wares of one shelf, and of no shelf the others. */
const SHELVES: Readonly<Record<string, number>> = { tester: 1, other: 2 };

@Resource('test_seen_wares', {
  external: { schema: 'Shop', name: 'wares', tracked: true },
  scope: {
    columns: ['shelf', 'state'],
    where: ({ clientID }) => ({ shelf: SHELVES[clientID] ?? 0, state: WareState.New }),
  },
})
class SeenWare {
  @Meaning('Identifies the ware.')
  @PrimaryColumn({ type: 'text' })
  ware_id!: string;

  @Meaning('The state of the ware.')
  @Column({ type: 'enum', enum: WareState })
  state!: WareState;

  @Meaning('The shelf of the ware.')
  @Column({ type: 'integer', nullable: true })
  shelf!: number | null;
}

@QueryOf(SeenWare, { sort: ['ware_id'] })
class ListSeenWaresDto extends ListQueryDto {}

/** Lets nobody in who says so. */
class ClosedGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return context.switchToHttp().getRequest<Request>().headers['x-closed'] === undefined;
  }
}

@UseGuards(ClosedGuard)
@Controller('test_seen_wares')
class SeenWaresController {
  constructor(@InjectDataSource() private readonly dataSource: DataSource) {}

  @Get()
  list(@Query() query: ListSeenWaresDto): Listing {
    return listOf(this.dataSource.getRepository(SeenWare), query);
  }
}

@Module({ imports: [ListModule.forFeature(SeenWare)], controllers: [SeenWaresController] })
class SeenWaresModule {}

const TRACK_SEEN = `SELECT track_table('test_seen_wares', '"Shop"."wares"', 'ware_id', '{}', '{shelf,state}')`;
const SINCE = new Date(Date.now() - 86_400_000).toISOString();

let service: TrackedService;
let token: string;

beforeAll(async () => {
  service = await startTracked({}, SeenWaresModule);
  await service.dataSource.query(TRACK_SEEN);
  const clients = service.application.get(ClientsService);
  await clients.create('other', {});
  ({ token } = await clients.issue('other', null));
});
afterAll(() => service.stop());

const own = (sql: string) => service.dataSource.query<unknown>(sql);
const asOwner = (sql: string) => service.owner.query(sql);

/** What each client is told since a time: the objects that changed, and those that were deleted. */
async function told(
  since = SINCE,
): Promise<Record<string, [changed: unknown[], deleted: unknown[]]>> {
  const found: Record<string, [unknown[], unknown[]]> = {};
  for (const clientID of Object.keys(SHELVES)) {
    const list = async (path: string): Promise<unknown[]> => {
      const { body } = await service
        .anonymous()
        .get(path)
        .set('X-Client-ID', clientID)
        .set('Authorization', `Bearer ${clientID === 'other' ? token : service.token}`)
        .expect(200);
      const { count, objects } = body.response_data as {
        count: string;
        objects: { ware_id: string }[];
      };
      expect(objects).toHaveLength(Number(count));
      return objects.map(({ ware_id: id }) => id);
    };
    found[clientID] = [
      await list(`/test_seen_wares?updatedSince=${since}`),
      await list(`/deletions/test_seen_wares?deletedSince=${since}`),
    ];
  }
  return found;
}

it('Each client is told of the changes and deletions of what it sees', async () => {
  await asOwner(
    `INSERT INTO "Shop".wares (ware_id, state, shelf)
     VALUES ('a', 'new', 1), ('b', 'new', 2), ('c', 'new', 1), ('d', 'sold out', 1), ('e', 'new', NULL)`,
  );
  expect(await told()).toEqual({ tester: [['a', 'c'], []], other: [['b'], []] });
  // Of two scopes, into none, and nothing that anyone has seen.
  await asOwner(
    `UPDATE "Shop".wares SET shelf = 2 WHERE ware_id = 'a'; UPDATE "Shop".wares SET state = 'sold out' WHERE ware_id = 'c';
     UPDATE "Shop".wares SET note = 'x' WHERE ware_id = 'b'; DELETE FROM "Shop".wares WHERE ware_id IN ('d', 'e')`,
  );
  expect(await told()).toEqual({ tester: [[], ['a', 'c']], other: [['a', 'b'], []] });
  await asOwner('TRUNCATE "Shop".wares');
  expect(await told()).toEqual({ tester: [[], ['a', 'c']], other: [[], ['a', 'b']] });
  await asOwner(`INSERT INTO "Shop".wares (ware_id, state, shelf) VALUES ('a', 'new', 1)`);
  expect(await told()).toEqual({ tester: [['a'], ['c']], other: [[], ['a', 'b']] });
  expect(await findViolations(service.application)).toEqual([]);
});

it('A client is told of what went while triggers were disabled, by what it saw', async () => {
  await asOwner(
    `INSERT INTO "Shop".wares (ware_id, state, shelf) VALUES ('f', 'new', 1), ('g', 'new', 1), ('h', 'new', 2);
     UPDATE "Shop".wares SET shelf = 2 WHERE ware_id = 'g'`,
  );
  // The update of g is told as its deletion, at a time that is rounded to milliseconds.
  await sleep(5);
  const since = new Date().toISOString();
  await asOwner(
    `ALTER TABLE "Shop".wares DISABLE TRIGGER USER; DELETE FROM "Shop".wares WHERE ware_id IN ('f', 'g');
     UPDATE "Shop".wares SET shelf = 1 WHERE ware_id = 'h'; ALTER TABLE "Shop".wares ENABLE TRIGGER USER`,
  );
  for (const statement of [TRACK.test_wares, TRACK_SEEN]) await own(statement);
  // What was deleted before is told again.
  expect(await told(since)).toEqual({ tester: [['a', 'h'], ['f']], other: [[], ['b', 'g', 'h']] });
});

it('The guards of the list cover the list of its deletions', async () => {
  await service
    .get(`/deletions/test_seen_wares?deletedSince=${SINCE}`)
    .set('X-Closed', '1')
    .expect(403);
});

it('What is recorded for another scope is found, and recorded anew', async () => {
  const other = TRACK_SEEN.replace('{shelf,state}', '{shelf}');
  await own(other);
  expect((await differences(service.dataSource)).map(({ text }) => text)).toEqual([
    'the tally of test_seen_wares is that of "Shop"."wares" by ware_id, and counts by nothing, its deletions record shelf, unlike its entity',
  ]);
  expect(await migrationChanges(service.dataSource)).toEqual({ up: [TRACK_SEEN], down: [other] });
  await own(TRACK_SEEN);
  expect(await findViolations(service.application)).toEqual([]);
});
