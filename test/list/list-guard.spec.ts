import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Inject,
  Injectable,
  Logger,
  Module,
  Query,
  Scope,
  SetMetadata,
  UseGuards,
} from '@nestjs/common';
import { Reflector, REQUEST } from '@nestjs/core';
import { InjectRepository } from '@nestjs/typeorm';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Observable, of } from 'rxjs';
import { Column, PrimaryColumn, Repository, UpdateDateColumn } from 'typeorm';
import type { CatalogueRequest } from '#server/http/request.js';
import { errors } from '#server/http/errors.js';
import {
  identifierColumn,
  type Listing,
  ListModule,
  listOf,
  ListQueryDto,
  QueryOf,
  Resource,
  timeColumn,
} from '@catalogue/server';
import { callLists } from '#server/verify/called-lists.js';
import { createDeclared } from '../schema/declared.js';
import { sharedService } from '../service.js';

@Resource('test_secrets', { counted: ['kind'] })
class TestSecret {
  @PrimaryColumn(identifierColumn)
  secretID!: string;

  @Column({ type: 'varchar', length: 10, nullable: true })
  kind!: string | null;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(TestSecret)
class ListSecretsDto extends ListQueryDto {}

/** Who may read, as a service of the module that no other module has. */
@Injectable()
class Roles {
  readonly roles = new Map<string, string>();
}

/** Of the class. It reads metadata of the controller, and answers as an observable. */
@Injectable()
class RoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly roles: Roles,
  ) {}

  canActivate(context: ExecutionContext): Observable<boolean> {
    const needed = this.reflector.get<string>('role', context.getClass());
    const { client } = context.switchToHttp().getRequest<CatalogueRequest>();
    return of(this.roles.roles.get(client?.clientID ?? '') === needed);
  }
}

/** Of the handler. It throws. */
const headerGuard: CanActivate = {
  canActivate: (context) => {
    if (context.getHandler().name !== 'all') throw new Error('This is not the handler of the list');
    const { headers } = context.switchToHttp().getRequest<CatalogueRequest>();
    if (headers['x-open'] === undefined) throw errors.pathUnknown('here');
    return true;
  },
};

@Controller('test_secrets')
@SetMetadata('role', 'reader')
@UseGuards(RoleGuard)
class SecretsController {
  constructor(@InjectRepository(TestSecret) private readonly secrets: Repository<TestSecret>) {}

  @Get()
  @UseGuards(headerGuard)
  all(@Query() query: ListSecretsDto): Listing {
    return listOf(this.secrets, query);
  }
}

@Resource('test_notes', { counted: ['kind'] })
class TestNote {
  @PrimaryColumn(identifierColumn)
  noteID!: string;

  @Column({ type: 'varchar', length: 10, nullable: true })
  kind!: string | null;

  @UpdateDateColumn(timeColumn)
  updatedAt!: Date;
}

@QueryOf(TestNote)
class ListNotesDto extends ListQueryDto {}

/** One for each request. */
@Injectable({ scope: Scope.REQUEST })
class RequestGuard implements CanActivate {
  constructor(@Inject(REQUEST) private readonly request: CatalogueRequest) {}

  canActivate(): boolean {
    if (this.request.headers['x-open'] === undefined) throw errors.pathUnknown('here');
    return true;
  }
}

@Controller({ path: 'test_notes', scope: Scope.REQUEST })
@UseGuards(RequestGuard)
class NotesController {
  constructor(
    @InjectRepository(TestNote) private readonly notes: Repository<TestNote>,
    @Inject(REQUEST) private readonly request: CatalogueRequest,
  ) {}

  @Get()
  list(@Query() query: ListNotesDto): Listing {
    if (typeof this.request !== 'object') throw new Error('It is not that of a request');
    return listOf(this.notes, query);
  }
}

@Module({
  imports: [ListModule.forFeature(TestSecret), ListModule.forFeature(TestNote)],
  controllers: [SecretsController, NotesController],
  providers: [Roles],
})
class SecretsModule {}

const service = sharedService({}, SecretsModule);

beforeAll(() => createDeclared(service.dataSource));

async function ask(path: string, isOpen: boolean): Promise<[number, string]> {
  const { status, body } = await service.get(path).set(isOpen ? { 'X-Open': 'yes' } : {});
  return [status, body.result.errcode];
}

describe('The guards of a list', () => {
  it.each(['/test_secrets', '/facets/test_secrets'])(
    'guard %s: those of its class and of its handler',
    async (path) => {
      const { roles } = service.application.get(Roles, { strict: false });
      const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
      roles.set(service.clientID, 'writer');
      expect(await ask(path, true)).not.toContain('0');
      logged.mockRestore();
      roles.set(service.clientID, 'reader');
      expect(await ask(path, false)).toEqual([404, '-30']);
      expect(await ask(path, true)).toEqual([200, '0']);
    },
  );

  it.each(['/test_notes', '/facets/test_notes?facets=kind'])(
    'guard %s: one that is made for each request',
    async (path) => {
      expect(await ask(path, false)).toEqual([404, '-30']);
      expect(await ask(path, true)).toEqual([200, '0']);
    },
  );

  it('guard /changes, which also reads through the handler of the list', async () => {
    const { roles } = service.application.get(Roles, { strict: false });
    const since = new Date(Date.now() + 60_000).toISOString();
    const changes = (resources: string, isOpen: boolean) =>
      service
        .get(`/changes?resources=${resources}&since=${since}`)
        .set({ Accept: 'application/x-ndjson', ...(isOpen && { 'X-Open': 'yes' }) });
    const logged = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    roles.set(service.clientID, 'writer');
    const { status } = await changes('test_secrets,brands', true);
    expect([status, logged.mock.calls]).toEqual([403, []]);
    logged.mockRestore();
    roles.set(service.clientID, 'reader');
    for (const resource of ['test_secrets', 'test_notes']) {
      await changes(`brands,${resource}`, false).expect(404, /"-30"/);
      await changes(`brands,${resource}`, true).expect(200, '');
    }
  });

  it('of each request, and their controller, are there for catalogue verify', async () => {
    expect((await callLists(service.application)).problems).toEqual([]);
  });

  it('are documented by the error of a guard that says no', async () => {
    const { body } = await service.anonymous().get('/openapi.json').expect(200);
    const { examples } = body.components.responses.Forbidden.content['application/json'];
    expect(Object.keys(examples)).toContain('-15');
  });
});
