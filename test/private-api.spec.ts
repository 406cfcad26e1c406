import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Header,
  HttpCode,
  Module,
  Param,
  ParseIntPipe,
  Query,
  Redirect,
  Render,
  RequestMethod,
  Res,
  Sse,
  type Type,
  UseFilters,
  UseGuards,
  UseInterceptors,
  UsePipes,
  Version,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer, NestFactory, RouterModule } from '@nestjs/core';
import { FileInterceptor, FilesInterceptor } from '@nestjs/platform-express';
import { Exclude, Expose, Transform, Type as TypeOf } from 'class-transformer';
import express, { type Request, type Response } from 'express';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Pool } from 'pg';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import {
  addIndex,
  askForPassword,
  isIdle,
  primaryPool,
  processIdOf,
  removeIdle,
  socketOf,
  setProcessId,
  startupOf,
  textRows,
} from '#server/private-api/database.js';
import {
  applicationConfigOf,
  argumentsOf,
  declaredBy,
  decoratedType,
  isFileInterceptor,
  isKeyOfNest,
  passesThrough,
  pathOfModule,
  RouteParamtypes,
  transformationsOf,
} from '#server/private-api/decorators.js';
import {
  allowHalfOpen,
  closeListener,
  messageClasses,
  methodsAt,
  replaceClose,
} from '#server/private-api/server.js';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';

async function listen(server: Server): Promise<number> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

describe('of the database', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  it('pg: process, options, state and socket of a client', async () => {
    const url = new URL(database.url);
    url.searchParams.set('options', '-c jit=on');
    const client = new Client(url.href);
    expect(startupOf(client).options).toBe('-c jit=on');
    startupOf(client).options = '-c work_mem=7MB';
    await client.connect();
    try {
      const asked = client.query<{ id: number }>('SELECT pg_backend_pid() AS id');
      expect(isIdle(client)).toBe(false);
      expect(processIdOf(client)).toBe((await asked).rows[0]?.id);
      expect((await client.query('SHOW work_mem')).rows).toEqual([{ work_mem: '7MB' }]);
      setProcessId(client, 1);
      expect(processIdOf(client)).toBe(1);
      expect(isIdle(client)).toBe(true);
      expect(socketOf(client)).toBeInstanceOf(Socket);
      const ended = once(client, 'error');
      socketOf(client).destroy(new Error('closed here'));
      expect(await ended).toEqual([new Error('closed here')]);
    } finally {
      await client.end();
    }
  });

  it('pg: a client asks for a password when the server does', async () => {
    let sent = '';
    const server = createServer((socket) => {
      socket.once('data', () => {
        // AuthenticationCleartextPassword
        socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 3]));
        socket.once('data', (message) => {
          sent = message.toString('latin1', 5, message.length - 1);
          socket.destroy();
        });
      });
    });
    const client = new Client(`postgres://reader@127.0.0.1:${await listen(server)}/some`);
    client.on('error', () => undefined);
    askForPassword(client, ({ user, database: name }) => Promise.resolve(`of ${user} for ${name}`));
    await expect(client.connect()).rejects.toThrow();
    expect(sent).toBe('of reader for some');
    server.close();
  });

  it('pg: a pool gives rows of texts, by a prepared statement', async () => {
    const pool = new Pool({ connectionString: database.url, max: 1 });
    try {
      const statement = { text: 'SELECT $1::int AS one, true AS yes, NULL AS none', name: 'some' };
      for (const one of ['1', '2'])
        expect(await textRows(pool, statement, [one])).toEqual([{ one, yes: 't', none: null }]);
      const prepared = { text: 'SELECT name FROM pg_prepared_statements' };
      expect(await textRows(pool, prepared, [])).toEqual([{ name: 'some' }]);
      await expect(textRows(pool, { text: 'SELECT 1 / 0' }, [])).rejects.toThrow(
        'division by zero',
      );
    } finally {
      await pool.end();
    }
  });

  it('TypeORM: the pool of the primary, and an index that it keeps', async () => {
    @Entity('private_lamps')
    class Lamp {
      @PrimaryColumn()
      lampID!: string;
      @Column()
      kind!: string;
    }
    const dataSource = new DataSource({ type: 'postgres', url: database.url, entities: [Lamp] });
    await dataSource.initialize();
    try {
      const changes = async (): Promise<string[]> => {
        const { upQueries } = await dataSource.driver.createSchemaBuilder().log();
        return upQueries.map(({ query }) => query).filter((query) => query.includes('private'));
      };
      await primaryPool(dataSource).query((await changes())[0] ?? '');
      await primaryPool(dataSource).query('CREATE INDEX private_kinds ON private_lamps (kind)');
      expect(await changes()).toEqual(['DROP INDEX "public"."private_kinds"']);
      addIndex(dataSource.getMetadata(Lamp), 'private_kinds');
      expect(await changes()).toEqual([]);
    } finally {
      await dataSource.destroy();
    }
  });

  it('pg: a pool gives up idle connections, and one that ends while it is in use', async () => {
    const pool = new Pool({ connectionString: database.url, max: 2 });
    const [used, idle] = await Promise.all([pool.connect(), pool.connect()]);
    idle.release();
    removeIdle(pool, () => false);
    expect(pool.totalCount).toBe(2);
    removeIdle(pool, () => true);
    expect([pool.totalCount, pool.idleCount]).toEqual([1, 0]);
    await used.query('SELECT 1');
    pool.on('release', (_error, client) => void client.end());
    used.release();
    expect(pool.totalCount).toBe(0);
    await pool.end();
  });
});

describe('of HTTP', () => {
  it('Node: a listener closes without its idle connections', async () => {
    const server = createHttpServer();
    const socket = connect(await listen(server), '127.0.0.1');
    await once(server, 'connection');
    let isClosed = false;
    const closing = closeListener(server).then(() => (isClosed = true));
    expect(server.listening).toBe(false);
    await sleep(50);
    expect([socket.closed, isClosed]).toEqual([false, false]);
    socket.destroy();
    await closing;
  });

  it('Node: a response reaches a client that has ended its direction', async () => {
    const server = createHttpServer((_request, response) => {
      response.writeHead(200, { Connection: 'close', 'Content-Length': 4 });
      void sleep(50).then(() => response.end('late'));
    });
    allowHalfOpen(server);
    const socket = connect(await listen(server), '127.0.0.1');
    socket.end('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    expect(await text(socket)).toMatch(/late$/);
    server.close();
  });

  it('Node: what closes a connection after its last response is replaced', async () => {
    const server = createHttpServer(({ socket }, response) => {
      replaceClose(socket, () => socket.end('and more'));
      response.writeHead(200, { Connection: 'close', 'Content-Length': 5 }).end('last ');
    });
    const socket = connect(await listen(server), '127.0.0.1');
    socket.write('GET / HTTP/1.1\r\nHost: here\r\n\r\n');
    expect(await text(socket)).toMatch(/last and more$/);
    server.close();
  });

  it('Express: requests and responses keep their prototypes', async () => {
    const application = express();
    const classes = messageClasses(application);
    const server = createHttpServer(classes, application);
    const seen: unknown[] = [];
    application.get('/', (request: Request, response: Response) => {
      seen.push(Object.getPrototypeOf(request), Object.getPrototypeOf(response), request.path);
      response.send('done');
    });
    expect(await (await fetch(`http://127.0.0.1:${await listen(server)}/`)).text()).toBe('done');
    const { IncomingMessage, ServerResponse } = classes;
    const [ofRequest, ofResponse, path] = seen;
    expect(ofRequest).toBe(IncomingMessage?.prototype);
    expect(ofResponse).toBe(ServerResponse?.prototype);
    expect(path).toBe('/');
    server.close();
    server.closeAllConnections();
  });

  it('Express: the methods of a path', () => {
    const application = express();
    const none = (_request: Request, response: Response): void => {
      response.end();
    };
    application.use(none);
    application.route('/lamps/:lampID').get(none).options(none);
    expect([...methodsAt(application, '/lamps/a')]).toEqual(['GET', 'OPTIONS']);
    expect(methodsAt(application, '/lamps').size).toBe(0);
  });
});

it('class-transformer: its decorators, and the class of a property', () => {
  class Part {
    name!: string;
  }
  class Base {
    @Exclude()
    hidden!: string;
  }
  @Expose()
  class Whole extends Base {
    @Transform(({ value }) => value as string)
    changed!: string;
    @TypeOf(() => Part)
    part!: Part;
  }
  const found = [...transformationsOf(Whole)].map(
    ({ decorator, property }) => `${decorator} ${property ?? ''}`,
  );
  expect(found.sort()).toEqual(['Exclude hidden', 'Expose ', 'Transform changed', 'Type part']);
  expect(decoratedType(Whole, 'part')).toBe(Part);
  expect(decoratedType(Whole, 'changed')).toBeUndefined();
});

describe('of Nest', () => {
  class Filter {
    catch(): void {
      // Nothing is thrown.
    }
  }
  class Guard {
    canActivate = (): boolean => true;
  }
  const Interceptor = FileInterceptor('file');
  class LampQuery {
    kind?: string;
  }

  @UseFilters(Filter)
  @UseGuards(Guard)
  @UseInterceptors(Interceptor)
  @UsePipes(ParseIntPipe)
  @Controller({ path: 'lamps', host: 'here', version: '2' })
  class LampsController {
    @Header('X-Lamp', 'on')
    @HttpCode(202)
    @Redirect('/there')
    @Render('page')
    @Get(':lampID')
    one(
      @Param('lampID', ParseIntPipe) lampID: number,
      @Query() query: LampQuery,
      @Res({ passthrough: true }) response: object,
    ): unknown {
      return [lampID, query, response];
    }

    @Sse('changes')
    @Version('1')
    changes(@Res() response: object): unknown {
      return response;
    }
  }

  it('what decorators declare', () => {
    const { one, changes } = LampsController.prototype as unknown as Record<string, object>;
    if (!one || !changes) throw new TypeError('It has both');
    const kinds = [
      'filters',
      'guards',
      'interceptors',
      'pipes',
      'host',
      'version',
      'path',
    ] as const;
    expect(kinds.map((kind) => declaredBy(LampsController, kind))).toEqual([
      [Filter],
      [Guard],
      [Interceptor],
      [ParseIntPipe],
      'here',
      '2',
      'lamps',
    ]);
    expect(declaredBy(one, 'method')).toBe(RequestMethod.GET);
    expect(declaredBy(one, 'path')).toBe(':lampID');
    expect(declaredBy(one, 'headers')).toEqual([{ name: 'X-Lamp', value: 'on' }]);
    expect(declaredBy(one, 'httpCode')).toBe(202);
    expect(declaredBy(one, 'redirect')).toMatchObject({ url: '/there' });
    expect(declaredBy(one, 'render')).toBe('page');
    expect(declaredBy(one, 'sse')).toBeUndefined();
    expect(declaredBy(changes, 'sse')).toBe(true);
    expect(declaredBy(changes, 'version')).toBe('1');
    const keys = [LampsController, one, changes].flatMap(
      (target) => Reflect.getMetadataKeys(target) as string[],
    );
    // Some of its keys look like those of other packages.
    const named = keys.filter((key) => /^(?!design:)\w+[/:]/.test(key));
    expect(named).toContain('scope:options');
    expect(named.filter((key) => !isKeyOfNest(key))).toEqual([]);
    expect(isKeyOfNest('swagger/apiUseTags')).toBe(false);
  });

  it('the arguments of handlers', () => {
    const controller: Type<object> = LampsController;
    expect(argumentsOf(controller, 'one')).toEqual([
      {
        index: 0,
        kind: RouteParamtypes.PARAM,
        name: 'lampID',
        type: Number,
        pipes: [ParseIntPipe],
      },
      { index: 1, kind: RouteParamtypes.QUERY, type: LampQuery, pipes: [] },
      { index: 2, kind: RouteParamtypes.RESPONSE, type: Object, pipes: [] },
    ]);
    expect(passesThrough(controller, 'one')).toBe(true);
    expect(passesThrough(controller, 'changes')).toBe(false);
  });

  it('the classes that take files', () => {
    for (const type of [Interceptor, FilesInterceptor('files')])
      expect(isFileInterceptor(type as Type<object>)).toBe(true);
    expect(isFileInterceptor(Guard)).toBe(false);
  });

  it('the path of a module, and what holds for all handlers', async () => {
    @Module({})
    class LampsModule {}
    @Module({
      imports: [LampsModule, RouterModule.register([{ path: 'house', module: LampsModule }])],
    })
    class HouseModule {}
    const application = await NestFactory.create(HouseModule, { logger: false });
    try {
      application.setGlobalPrefix('city');
      expect(applicationConfigOf(application.get(ModuleRef)).getGlobalPrefix()).toBe('city');
      const modules = application.get(ModulesContainer);
      expect(pathOfModule(modules, LampsModule)).toBe('/house');
      expect(pathOfModule(modules, HouseModule)).toBeUndefined();
    } finally {
      await application.close();
    }
  });
});

it('What is private is loaded before anything else, as by catalogue export', async () => {
  const load = [
    '--input-type=module',
    '--eval',
    `import './packages/server/dist/private-api/decorators.js'`,
  ];
  expect(await promisify(execFile)(process.execPath, load)).toEqual({ stdout: '', stderr: '' });
});
