import { afterAll, afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import {
  All,
  Body,
  Catch,
  ClassSerializerInterceptor,
  Controller,
  type DynamicModule,
  type ExecutionContext,
  ForbiddenException,
  Get,
  Header,
  HostParam,
  HttpCode,
  Inject,
  Injectable,
  type MiddlewareConsumer,
  Module,
  Param,
  ParseIntPipe,
  Post,
  Query,
  Redirect,
  Render,
  Res,
  Session,
  SerializeOptions,
  SetMetadata,
  Sse,
  UploadedFile,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  ValidationPipe,
  Version,
} from '@nestjs/common';
import {
  APP_FILTER,
  APP_GUARD,
  APP_INTERCEPTOR,
  DiscoveryModule,
  DiscoveryService,
  MetadataScanner,
  NestFactory,
  Reflector,
  RouterModule,
} from '@nestjs/core';
import {
  AnyFilesInterceptor,
  FileInterceptor,
  type NestExpressApplication,
} from '@nestjs/platform-express';
import { Test } from '@nestjs/testing';
import type { NextFunction, Request, Response } from 'express';
import { readFile } from 'node:fs/promises';
import { catchError, type Observable, tap } from 'rxjs';
import { CatalogueModule } from '#server/catalogue.module.js';
import { createApplication } from '#server/application.js';
import { CommandError } from '#server/command-error.js';
import { PROJECT } from '../project.js';
import { BrandsService } from '../../src/brands/brands.service.js';
import { ListBrandsDto } from '../../src/brands/list-brands.dto.js';
import type { CatalogueRequest } from '#server/http/request.js';
import { JSON_TYPE } from '#server/http/envelope.js';
import { type Listing, ListModule } from '@catalogue/server';
import { startService } from '@catalogue/server/testing';
import { AppModule } from '../../src/app.module.js';
import { Brand } from '../../src/brands/brand.entity.js';
import { Settings } from '#server/settings/settings.js';
import { refusal, type Service, startServiceBy } from '../service.js';

/** The rows of the table, what Nest offers and what happens here, as plain text. */
const document = await readFile('docs/resources.md', 'utf8');
const [, section = ''] = document.split('\n## What Nest offers\n');
const TABLE = new Map(
  section
    .split('\n## ', 1)[0]
    ?.split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| ---'))
    .slice(1)
    .map((line) => {
      const [offer = '', here = ''] = line.slice(2, -2).split(' | ');
      return [offer.trim(), here.replaceAll('`', '').trim()] as const;
    }),
);

const [WORKS, REFUSED] = [new Map<string, () => unknown>(), new Map<string, string[]>()];

let service: Service;

afterEach(() => {
  jest.restoreAllMocks();
});

// What works.

/** What ran, in this order. */
const ran: string[] = [];

/** Such as `credentials`, `guard`, for the last request. */
async function ranFor(path: string): Promise<string[]> {
  ran.length = 0;
  await service.get(path).expect(200);
  return ran;
}

@Injectable()
class Watching {
  intercept(
    context: ExecutionContext,
    next: { handle(): Observable<unknown> },
  ): Observable<unknown> {
    const response = context.switchToHttp().getResponse<Response>();
    response.setHeader('X-Before', 'yes');
    response.setHeader('ETag', '"own"');
    return next.handle().pipe(
      tap((result) => ran.push(`interceptor with ${(result as object).constructor.name}`)),
      tap(() => response.setHeader('X-After', 'yes')),
      catchError((error: Error) => {
        throw error instanceof RangeError ? new ForbiddenException(error.message) : error;
      }),
    );
  }
}

@Injectable()
class Counting {
  intercept(_context: unknown, next: { handle(): Observable<unknown> }): Observable<unknown> {
    return next.handle().pipe(tap(() => ran.push('APP_INTERCEPTOR')));
  }
}

const guard = (name: string) => ({
  canActivate: (context: { switchToHttp(): { getRequest(): CatalogueRequest } }) => {
    const { client, url } = context.switchToHttp().getRequest();
    ran.push(`${name} for ${String(client?.clientID)}`);
    return !url.startsWith('/test_own/secret');
  },
});

// As @nestjs/event-emitter and @nestjs/schedule find what they call.
const On = (event: string) => SetMetadata('test_event', event);

@Injectable()
class Listeners {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
    private readonly reflector: Reflector,
  ) {}

  onApplicationBootstrap(): void {
    for (const { instance, metatype } of this.discovery.getProviders()) {
      if (!metatype || !instance || instance === this) continue;
      const object = instance as Record<string, () => void>;
      for (const method of this.scanner.getAllMethodNames(Object.getPrototypeOf(object) as object))
        if (this.reflector.get('test_event', object[method] ?? Object) === 'start')
          object[method]?.();
    }
  }
}

@Injectable()
class Listener {
  heard = 0;

  @On('start')
  hear(): void {
    this.heard++;
  }
}

const HOOKS = [
  'onModuleInit',
  'onApplicationBootstrap',
  'onModuleDestroy',
  'beforeApplicationShutdown',
  'onApplicationShutdown',
];

@Injectable()
class Hooks {
  readonly called: string[] = [];
}
for (const hook of HOOKS)
  Object.defineProperty(Hooks.prototype, hook, {
    value(this: Hooks) {
      this.called.push(hook);
    },
  });

// As ConfigModule.forRoot().
@Module({})
class ConfiguredModule {
  static forRoot(): DynamicModule {
    const provider = {
      provide: 'CONFIGURED',
      useFactory: () => Promise.resolve({ colour: 'red' }),
    };
    return { module: ConfiguredModule, global: true, providers: [provider], exports: [provider] };
  }
}

@Controller('test_own')
@UseInterceptors(Watching)
@UseGuards(guard('guard'))
class OwnController {
  constructor(
    private readonly brands: BrandsService,
    private readonly settings: Settings,
    @Inject('CONFIGURED') private readonly configured: { colour: string },
  ) {}

  @Get()
  list(@Query() query: ListBrandsDto): Listing {
    return this.brands.list(query);
  }

  @Get('number/:number')
  @Header('X-Own', 'yes')
  number(@Param('number', ParseIntPipe) number: number): object {
    if (number > 9) throw new RangeError('At most 9');
    return { number };
  }

  @Get('created')
  created(@Res({ passthrough: true }) response: Response): object {
    response.status(201).setHeader('X-Own', 'also');
    response.setHeader('Content-Type', 'text/plain');
    return {};
  }

  @Get('secret')
  secret(): object {
    return {};
  }

  @Get('settings')
  values(): object {
    return { colour: this.configured.colour, maxLimit: this.settings.maxLimit };
  }
}

@Module({
  imports: [ListModule.forFeature(Brand), DiscoveryModule, ConfiguredModule.forRoot()],
  controllers: [OwnController],
  providers: [
    BrandsService,
    Listeners,
    Listener,
    Hooks,
    { provide: APP_GUARD, useValue: guard('APP_GUARD') },
    { provide: APP_INTERCEPTOR, useClass: Counting },
  ],
})
class OwnModule {
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((_request: Request, response: Response, next: NextFunction) => {
        ran.push('middleware');
        response.setHeader('X-Middleware', 'yes');
        next();
      })
      .forRoutes('test_own');
  }
}

beforeAll(async () => {
  service = await startServiceBy(
    async (...of) => {
      const application = await NestFactory.create<NestExpressApplication>(...of);
      application.use((request: Request, _response: Response, next: NextFunction) => {
        ran.push('app.use');
        if (request.url.startsWith('/test_own?name=refused')) throw new ForbiddenException('No');
        next();
      });
      application.useGlobalGuards(guard('app.useGlobalGuards'));
      return application;
    },
    {},
    OwnModule,
  );
  await service.load('brands', [{ brandID: 'b', name: 'Acme' }]);
});
afterAll(() => service.stop());

WORKS.set('`configure(consumer)`: middleware', async () => {
  expect(await ranFor('/test_own')).toContain('middleware');
  expect((await service.get('/test_own')).headers['x-middleware']).toBe('yes');
});

WORKS.set('`app.use`', async () => {
  expect((await ranFor('/test_own')).slice(0, 2)).toEqual(['app.use', 'middleware']);
  await service.get('/test_own?name=refused').expect(403, refusal(-15, 'No'));
  expect(() => service.application.use(() => undefined)).toThrow(
    'app.use comes too late: call it in the third argument of run',
  );
});

WORKS.set('guards', async () => {
  const { clientID } = service;
  const guards = ['APP_GUARD', 'app.useGlobalGuards', 'guard'].map((of) => `${of} for ${clientID}`);
  expect((await ranFor('/test_own')).slice(2, 5)).toEqual(guards);
  await service.get('/test_own/secret').expect(403, refusal(-15, 'Forbidden resource'));
  ran.length = 0;
  await service.get('/test_own?colour=red').expect(400);
  await service.anonymous().get('/test_own').expect(401);
  expect(ran.join()).not.toContain('guard');
});

WORKS.set('pipes such as `ParseUUIDPipe`', async () => {
  const message = 'Validation failed (numeric string is expected)';
  await service.get('/test_own/number/x').expect(400, refusal(-27, message));
});

WORKS.set('interceptors', async () => {
  expect((await ranFor('/test_own')).slice(5)).toEqual([
    'interceptor with Listing',
    'APP_INTERCEPTOR',
  ]);
  expect((await ranFor('/test_own/number/1')).slice(5)).toEqual([
    'interceptor with Object',
    'APP_INTERCEPTOR',
  ]);
  await service.get('/test_own/number/10').expect(403, refusal(-15, 'At most 9'));
  expect(await ranFor('/facets/products')).toContain('APP_INTERCEPTOR');
});

WORKS.set('headers that an interceptor sets', async () => {
  const own = async (path: string, status: number, headers: Record<string, string> = {}) => {
    const answer = await service.get(path).set(headers).expect(status);
    return ['x-before', 'x-after', 'etag'].map((name) => answer.headers[name]);
  };
  const [, , tag = ''] = await own('/test_own', 200);
  expect(tag).toMatch(/^W\/"\d+-/);
  expect(await own('/test_own', 304, { 'If-None-Match': tag })).toEqual(['yes', 'yes', tag]);
  expect(await own('/test_own/number/1', 200)).toEqual(['yes', 'yes', '"own"']);
  expect(await own('/test_own/number/10', 403)).toEqual(['yes', undefined, '"own"']);
  expect(await own('/test_own?limit=x', 400)).toEqual(['yes', undefined, '"own"']);
  expect(await own('/test_own?colour=red', 400)).toEqual([undefined, undefined, undefined]);
});

WORKS.set('`@Header`, `@Res({ passthrough: true })`', async () => {
  expect((await service.get('/test_own/number/1')).headers['x-own']).toBe('yes');
  const { headers } = await service.get('/test_own/created').expect(200);
  expect(headers).toMatchObject({ 'x-own': 'also', 'content-type': JSON_TYPE });
});

WORKS.set('dynamic modules such as `ConfigModule`', async () => {
  const { body } = await service.get('/test_own/settings').expect(200);
  expect(body.response_data.objects).toEqual([{ colour: 'red', maxLimit: 1000 }]);
});

WORKS.set('events and schedules', () => {
  expect(service.application.get(Listener).heard).toBe(1);
});

it('A project sets what it needs of the application before that is initialised', async () => {
  const { url } = service.database;
  const settings = new Settings({ LOG_LEVEL: 'error', DATABASE_URL: url });
  const paths: string[] = [];
  const configure = async (application: NestExpressApplication): Promise<void> => {
    await Promise.resolve();
    application.use((request: Request, _response: Response, next: NextFunction) => {
      paths.push(request.path);
      next();
    });
  };
  const application = await createApplication({ ...PROJECT, configure }, url, settings);
  await application.listen(0, '127.0.0.1');
  await fetch(`${await application.getUrl()}/brands`);
  await application.close();
  expect(paths).toEqual(['/brands']);
});

WORKS.set('lifecycle hooks', async () => {
  const settings = new Settings({ DATABASE_URL: service.database.url });
  const { url } = service.database;
  const module = await CatalogueModule.forRoot(PROJECT, url, settings, [OwnModule]);
  // As a command does it.
  const command = await NestFactory.createApplicationContext(module, { logger: false });
  const hooks = command.get(Hooks);
  expect(hooks.called).toEqual(HOOKS.slice(0, 2));
  expect(command.get(Listener).heard).toBe(1);
  await command.close();
  expect(hooks.called).toEqual(HOOKS);
});

WORKS.set('`Test.createTestingModule` with `overrideProvider`', async () => {
  const overridden = await startService(AppModule, {
    create: async (module, adapter, options) => {
      const testing = await Test.createTestingModule({ imports: [module] })
        .overrideProvider(BrandsService)
        .useValue({ list: () => [{ brandID: 'fake' }] })
        .compile();
      return testing.createNestApplication(adapter, options);
    },
  });
  try {
    const { body } = await overridden.get('/brands').expect(200);
    expect(body.response_data).toEqual({ count: '1', objects: [{ brandID: 'fake' }] });
    await overridden.get('/brands?colour=red').expect(400);
  } finally {
    await overridden.stop();
  }
});

// What is refused. The packages are not dependencies: the decorators set the metadata that theirs set, and the classes
// have the names of theirs.

const Throttle = () => SetMetadata('THROTTLER:LIMITdefault', 5);
const SkipThrottle = () => SetMetadata('THROTTLER:SKIPdefault', true);
const CacheTTL = () => SetMetadata('cache_module:cache_ttl', 5);

class CacheInterceptor {
  intercept(_context: unknown, next: { handle(): Observable<unknown> }): Observable<unknown> {
    return next.handle();
  }
}
class OwnCacheInterceptor extends CacheInterceptor {}
class ThrottlerGuard {
  canActivate(): boolean {
    return true;
  }
}

@Catch()
class OwnFilter {
  catch(): void {
    throw new Error('It is never called');
  }
}
@Catch()
class OtherFilter extends OwnFilter {}

/* eslint-disable @typescript-eslint/no-empty-function, @typescript-eslint/no-unused-vars -- The service does not start with these handlers, so that nothing calls them. */
@Controller('test_refused')
@UseInterceptors(ClassSerializerInterceptor)
@Throttle()
@UseFilters(OwnFilter)
class RefusedController {
  @Post() post(): void {}
  @All('all') all(): void {}
  @Get('code') @HttpCode(201) code(): void {}
  @Get('redirect') @Redirect('/') redirect(): void {}
  @Sse('sse') sse(): void {}
  @Get('render') @Render('x') render(): void {}
  @Get('response') response(@Res() _response: Response): void {}
  @Get('body') body(@Body() _body: unknown): void {}
  @Get('sent') @UseInterceptors(FileInterceptor('image'), AnyFilesInterceptor()) sent(): void {}
  @Get('file') file(@UploadedFile() _file: unknown): void {}
  @Get('session') session(@Session() _session: unknown): void {}
  @Get('host') host(@HostParam() _host: object): void {}
  @Get('versioned') @Version('1') versioned(): void {}
  @Get('cached') @CacheTTL() @UseInterceptors(new OwnCacheInterceptor()) cached(): void {}
  @Get('throttled') @SkipThrottle() @UseGuards(ThrottlerGuard) throttled(): void {}
  @Get('serialized') @SerializeOptions({}) serialized(): void {}
  @Get('piped/:id') @UsePipes(new ValidationPipe()) piped(
    @Param(ValidationPipe) _params: object,
  ): void {}
}

@Controller('health')
class HealthController {
  @Get() check(): void {}
}

@Controller('metrics')
class MetricsController {
  @Get() read(): void {}
}

// As the service would call its own.
@Controller('facets')
class OwnFacetsController {
  @Get('products') list(): void {}
  @Get('own') other(): void {}
}

/* eslint-enable @typescript-eslint/no-empty-function, @typescript-eslint/no-unused-vars */

@Module({ controllers: [RefusedController] })
class PathModule {}

@Module({
  imports: [PathModule, RouterModule.register([{ path: 'admin', module: PathModule }])],
  controllers: [HealthController, MetricsController, OwnFacetsController],
  providers: [
    { provide: APP_FILTER, useClass: OwnFilter },
    { provide: APP_GUARD, useClass: ThrottlerGuard },
    { provide: APP_INTERCEPTOR, useClass: CacheInterceptor },
  ],
})
class RefusedModule {}

REFUSED.set('`app.setGlobalPrefix`', ['The application has a global prefix']);
REFUSED.set('`app.enableVersioning`, `@Version`', [
  'The application has versioning',
  'RefusedController.versioned has a version',
]);
REFUSED.set('`RouterModule`', ['PathModule has a path of RouterModule']);
REFUSED.set('`@Post`, `@All` and the like', [
  'RefusedController.post has @Post()',
  'RefusedController.all has @All()',
]);
REFUSED.set('`@HttpCode`, `@Redirect`, `@Sse`, `@Render`, `@Res`', [
  'RefusedController.code has @HttpCode()',
  'RefusedController.redirect has @Redirect()',
  'RefusedController.sse has @Sse()',
  'RefusedController.render has @Render()',
  'RefusedController.response takes @Res() or @Next()',
]);
REFUSED.set('`@HostParam`', ['RefusedController.host takes @HostParam()']);
REFUSED.set('`@Body`, `@UploadedFile`, `FileInterceptor`, `@Session`', [
  'RefusedController.body takes @Body()',
  'RefusedController.file takes @UploadedFile()',
  'RefusedController.sent has FileInterceptor or the like',
  'RefusedController.session takes @Session()',
]);
REFUSED.set('filters: `@UseFilters`, `APP_FILTER`, `app.useGlobalFilters`', [
  'RefusedController has @UseFilters()',
  'The application has the filter OwnFilter',
  'The application has the filter OtherFilter',
]);
REFUSED.set('`ValidationPipe`, also global', [
  'RefusedController.piped has ValidationPipe',
  'The application has ValidationPipe',
]);
REFUSED.set('`ClassSerializerInterceptor`', [
  'RefusedController has ClassSerializerInterceptor',
  'The application has ClassSerializerInterceptor',
]);
REFUSED.set('`CacheInterceptor`', [
  'RefusedController.cached has CacheInterceptor',
  'The application has CacheInterceptor',
]);
REFUSED.set('`ThrottlerGuard`', [
  'RefusedController.throttled has ThrottlerGuard',
  'The application has ThrottlerGuard',
]);
REFUSED.set('`@SerializeOptions`, `@CacheTTL`, `@Throttle`, `@ApiTags` and the like', [
  'RefusedController has metadata of another package, THROTTLER:LIMITdefault',
  'RefusedController.cached has metadata of another package, cache_module:cache_ttl',
  'RefusedController.throttled has metadata of another package, THROTTLER:SKIPdefault',
  'RefusedController.serialized has metadata of another package, class_serializer:options',
]);
REFUSED.set('a health module, other handlers at paths of the service', [
  'HealthController.check at /health has a path of the service',
  'MetricsController.read at /metrics has a path of the service',
  'OwnFacetsController.list at /facets/products has a path of the service',
  'OwnFacetsController.other at /facets/own has a path of the service',
]);

const REFUSED_METHODS = [
  ['`app.enableCors`', 'enableCors'],
  ['`app.useBodyParser`', 'useBodyParser'],
  ['`app.useStaticAssets`', 'useStaticAssets'],
] as const;

describe('What Nest offers', () => {
  let lines: string[];

  beforeAll(async () => {
    jest.spyOn(console, 'error').mockImplementation(() => undefined);
    const { url } = service.database;
    const settings = new Settings({ LOG_LEVEL: 'error', DATABASE_URL: url });
    const created = createApplication(PROJECT, url, settings, [RefusedModule], async (...of) => {
      const application = await NestFactory.create<NestExpressApplication>(...of);
      application.setGlobalPrefix('api');
      application.enableVersioning();
      application.useGlobalPipes(new ValidationPipe({ whitelist: true }));
      application.useGlobalInterceptors(new ClassSerializerInterceptor(application.get(Reflector)));
      application.useGlobalFilters(new OtherFilter());
      return application;
    });
    const message = await created.then(
      async (application) => {
        await application.close();
        return '';
      },
      (error: unknown) => (error as Error).message,
    );
    lines = message.split('; ');
  });

  it.each([...WORKS])('works, as the table says: %s', async (offer, holds) => {
    expect(TABLE.get(offer)).toMatch(/^works?\b/);
    await holds();
  });

  it.each([...REFUSED])('is refused, as the table says: %s', (offer, begins) => {
    const [, instead] = /^refused: (.+)$/.exec(TABLE.get(offer) ?? '') ?? [];
    for (const begin of begins)
      expect(lines).toContain(`${begin}: ${instead ?? 'nothing in the table'}`);
  });

  it.each(REFUSED_METHODS)('is refused, as the table says: %s', async (offer, method) => {
    const [, instead] = /^refused: (.+)$/.exec(TABLE.get(offer) ?? '') ?? [];
    const { url } = service.database;
    const settings = new Settings({ LOG_LEVEL: 'error', DATABASE_URL: url });
    const written = (['stdout', 'stderr'] as const).map((stream) =>
      jest.spyOn(process[stream], 'write').mockReturnValue(true),
    );
    const configure = (application: NestExpressApplication): void => {
      (application[method] as (path: string) => unknown)('src');
    };
    const created = createApplication({ ...PROJECT, configure }, url, settings);
    await expect(created).rejects.toThrow(
      new CommandError(`app.${method} is refused: ${instead ?? 'nothing in the table'}`),
    );
    // The command prints the message, and Nest does not write it besides.
    for (const write of written) expect(write).not.toHaveBeenCalled();
  });

  it('is in the table with all that a test holds, and nothing else', () => {
    const methods = REFUSED_METHODS.map(([offer]) => offer);
    const held = [...WORKS.keys(), ...REFUSED.keys(), ...methods];
    expect([...TABLE.keys()].sort()).toEqual(held.sort());
  });
});
