// Before the modules of Nest, whose decorators need it when they load.
import 'reflect-metadata';
import { IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http';
import { Server as NetServer, type Socket } from 'node:net';
import type { Type } from '@nestjs/common';
import * as constants from '@nestjs/common/constants.js';
import {
  MODULE_PATH,
  PARAMTYPES_METADATA,
  ROUTE_ARGS_METADATA,
  RouteParamtypes,
} from '@nestjs/common/internal';
import {
  ApplicationConfig,
  type ModuleRef,
  type ModulesContainer,
  type NestContainer,
} from '@nestjs/core';
import type { TypeMetadata } from 'class-transformer';
import { defaultMetadataStorage } from 'class-transformer/cjs/storage.js';
import type { Express, Request, Response } from 'express';
import type { ILayer } from 'express-serve-static-core';
import { type ClientBase, type FieldDef, type Pool, Query } from 'pg';
import type { Server as AskedServer } from 'pgpass';
import type { DataSource, EntityMetadata } from 'typeorm';
import { IndexMetadata } from 'typeorm/metadata/IndexMetadata.js';

// What the service uses of Node and its libraries that they do not document. `test/private-api.spec.ts` fails if an
// upgrade takes one of them away. Any folder may import this file, and no other file imports what is private.

/* pg */

interface PrivateClient {
  readonly processID: number;
  readonly readyForQuery: boolean;
  readonly connectionParameters: { readonly options?: string };
  readonly connection: { readonly stream: Socket };
}

function privateOf(client: ClientBase): PrivateClient {
  return client as unknown as PrivateClient;
}

/** The process of the server that serves a connected client. */
export function processIdOf(client: ClientBase): number {
  return privateOf(client).processID;
}

/** The settings that a client asks for when it connects, such as `-c jit=on` of its URL or of `PGOPTIONS`. */
export function startupOptionsOf(client: ClientBase): string | undefined {
  return privateOf(client).connectionParameters.options;
}

/** Whether a client waits for no response. */
export function isIdle(client: ClientBase): boolean {
  return privateOf(client).readyForQuery;
}

export function socketOf(client: ClientBase): Socket {
  return privateOf(client).connection.stream;
}

/**
 * Lets a client without a password ask for one when the server does. As an option, the function would give way to the
 * absent password of a URL.
 */
export function askForPassword(
  client: ClientBase & { readonly password?: string | undefined },
  ask: (server: AskedServer) => Promise<string>,
): void {
  Object.assign(client, { password: client.password ?? ask });
}

/**
 * The rows of a statement, with values as text.
 *
 * @param name under which a connection prepares the statement; absent: it does not
 */
export async function textRows<Row>(
  pool: Pool,
  statement: { readonly text: string; readonly name?: string | undefined },
  values: readonly unknown[],
): Promise<Row[]> {
  const query = new TextQuery<Row>(statement.text, statement.name, values);
  // Unlike a client, whose types it shares, a pool returns a promise for any query.
  await (pool.query(query) as unknown as Promise<unknown>);
  return query.found;
}

/**
 * A query that leaves all values as text. It collects the rows itself: for a short query, the result
 * that pg builds, with a parser for each column, costs more than the query.
 */
class TextQuery<Row> extends Query {
  readonly found: Row[] = [];
  private columns: readonly string[] = [];

  constructor(
    text: string,
    readonly name: string | undefined,
    values: readonly unknown[],
  ) {
    // A text and not a configuration object, which pg would clone.
    super(text, values as never);
  }

  /** Called by pg before the first row. */
  handleRowDescription({ fields }: { readonly fields: readonly FieldDef[] }): void {
    this.columns = fields.map(({ name }) => name);
  }

  /** Called by pg for each row. */
  handleDataRow({ fields: values }: { readonly fields: readonly (string | null)[] }): void {
    const row: Record<string, string | null> = {};
    this.columns.forEach((name, index) => {
      row[name] = values[index] ?? null;
    });
    this.found.push(row as Row);
  }
}

/* TypeORM */

/** The pool of connections to the primary, which TypeORM manages. */
export function primaryPool(dataSource: DataSource): Pool {
  return (dataSource.driver as unknown as { master: Pool }).master;
}

/** Adds an index to a table as TypeORM knows it, so that TypeORM does not drop it. */
export function addIndex(entityMetadata: EntityMetadata, name: string): void {
  const args = { target: entityMetadata.target, name, synchronize: false };
  const index = new IndexMetadata({ entityMetadata, args });
  entityMetadata.indices.push(Object.assign(index, { name }));
}

/* Node */

/** Stops listening. `http.Server.close` would also close idle connections. */
export async function closeListener(server: Server): Promise<void> {
  await new Promise((resolve) => NetServer.prototype.close.call(server, resolve));
}

/**
 * Keeps the connections whose clients have ended their direction. Node closes such a connection, and pending responses are
 * lost. A client that is gone without a reset is noticed when a response is written.
 */
export function allowHalfOpen(server: Server): void {
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Replaces what Node does with a connection after a response that has `Connection: close`. */
export function replaceClose(socket: Socket, close: () => void): void {
  socket.destroySoon = close;
}

/* Express */

export type MessageClasses = Pick<ServerOptions, 'IncomingMessage' | 'ServerResponse'>;

/**
 * The classes of a server's requests and responses, with the prototypes that Express gives them. Setting
 * the prototype of an existing object, as Express does otherwise for each of them, makes V8 use slow
 * access to their properties, and keeps them in memory until a full garbage collection.
 */
export function messageClasses(application: Express): MessageClasses {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse<R extends IncomingMessage> extends ServerResponse<R> {}
  Object.setPrototypeOf(ExpressRequest.prototype, application.request);
  Object.setPrototypeOf(ExpressResponse.prototype, application.response);
  application.request = ExpressRequest.prototype as Request;
  application.response = ExpressResponse.prototype as unknown as Response;
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

/** The methods of the routes that match a path, in upper case. */
export function methodsAt(application: Express, path: string): Set<string> {
  const layers = application.router.stack as (ILayer & { match(path: string): unknown })[];
  return new Set(
    layers
      .filter((layer) => layer.route && layer.match(path))
      .flatMap((layer) => layer.route?.stack.map(({ method }) => method.toUpperCase()) ?? []),
  );
}

/* class-transformer */

/** What decorators have declared, by class and property; of the class itself if the property is `undefined`. */
type Transformed = ReadonlyMap<Type, ReadonlyMap<string | undefined, unknown>>;

/** The decorators of class-transformer that a class and its properties have, such as `Exclude`. */
export function* transformationsOf(
  target: Type,
): Generator<{ decorator: string; property: string | undefined }> {
  for (const [kind, byClass] of Object.entries(defaultMetadataStorage) as [string, Transformed][]) {
    const [, first = '', rest = ''] = /^_(\w)(\w*)Metadatas$/.exec(kind) ?? [];
    if (first === '') continue;
    for (const [declaring, byProperty] of byClass) {
      if (declaring !== target && !(target.prototype instanceof declaring)) continue;
      for (const property of byProperty.keys())
        yield { decorator: first.toUpperCase() + rest, property };
    }
  }
}

/** What `@Type` of class-transformer gives a property; `undefined` for a property without it. */
export function decoratedType(target: Type, property: string): Type | undefined {
  const metadata = defaultMetadataStorage.findTypeMetadata(target, property) as
    TypeMetadata | undefined;
  return metadata?.typeFunction() as Type | undefined;
}

/* Nest */

export { RouteParamtypes };

/** What decorators of Nest set on a controller or a handler. */
const DECLARED = {
  filters: constants.EXCEPTION_FILTERS_METADATA,
  guards: constants.GUARDS_METADATA,
  headers: constants.HEADERS_METADATA,
  host: constants.HOST_METADATA,
  httpCode: constants.HTTP_CODE_METADATA,
  interceptors: constants.INTERCEPTORS_METADATA,
  method: constants.METHOD_METADATA,
  path: constants.PATH_METADATA,
  pipes: constants.PIPES_METADATA,
  redirect: constants.REDIRECT_METADATA,
  render: constants.RENDER_METADATA,
  sse: constants.SSE_METADATA,
  version: constants.VERSION_METADATA,
} as const;

/** What decorators of Nest have set on a controller or a handler; `undefined` if none has. */
export function declaredBy(target: object, what: keyof typeof DECLARED): unknown {
  return Reflect.getMetadata(DECLARED[what], target);
}

const KEYS: ReadonlySet<unknown> = new Set(Object.values(constants));

/** Whether a key of metadata is one of Nest. */
export function isKeyOfNest(key: unknown): boolean {
  return KEYS.has(key);
}

/** An argument of a controller's method, as its decorator declares it. */
export interface HandlerArgument {
  readonly index: number;
  /** `undefined` for that of a decorator of one's own. */
  readonly kind: RouteParamtypes | undefined;
  /** What the decorator names, such as `brandID` in `@Param('brandID')`. */
  readonly name?: string;
  /** The class of the argument, as the compiler has it. */
  readonly type: unknown;
  /** Its pipes: classes or instances. */
  readonly pipes: readonly unknown[];
}

const KINDS = Object.values(RouteParamtypes).filter((kind) => typeof kind === 'number');

/** The decorated arguments of a controller's method, in their order. */
export function argumentsOf(controller: Type<object>, method: string): HandlerArgument[] {
  const declared = (Reflect.getMetadata(ROUTE_ARGS_METADATA, controller, method) ?? {}) as Record<
    string,
    { index: number; data?: unknown; pipes?: readonly unknown[] }
  >;
  const types = (Reflect.getMetadata(PARAMTYPES_METADATA, controller.prototype as object, method) ??
    []) as unknown[];
  return Object.entries(declared)
    .map(([key, { index, data, pipes = [] }]) => ({
      index,
      kind: KINDS.find((each) => key === `${each}:${index}`),
      ...(typeof data === 'string' && { name: data }),
      type: types[index],
      pipes,
    }))
    .sort((one, other) => one.index - other.index);
}

/** Whether a handler with `@Res()` still returns its answer. */
export function passesThrough(controller: Type<object>, method: string): boolean {
  return Reflect.hasMetadata(constants.RESPONSE_PASSTHROUGH_METADATA, controller, method);
}

/** The path that `RouterModule` gives a module. It is set for one application, also on a module that several have. */
export function pathOfModule(modules: ModulesContainer, module: object): unknown {
  return Reflect.getMetadata(MODULE_PATH + modules.applicationId, module);
}

/** `FileInterceptor` and its siblings make classes with random names, into which Nest injects options of multer. */
export function isFileInterceptor(type: Type<object>): boolean {
  const injected = (Reflect.getOwnMetadata(constants.SELF_DECLARED_DEPS_METADATA, type) ?? []) as {
    param: unknown;
  }[];
  return injected.some(({ param }) => param === 'MULTER_MODULE_OPTIONS');
}

/** What holds for all handlers. Nest has no provider of it. */
export function applicationConfigOf(moduleRef: ModuleRef): ApplicationConfig {
  const { container } = moduleRef as unknown as { container: NestContainer };
  return container.applicationConfig ?? new ApplicationConfig();
}
