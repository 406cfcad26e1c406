// Before the modules of Nest, whose decorators need it when they load.
import 'reflect-metadata';
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

// What the service uses of class-transformer and Nest that they do not document. `test/private-api.spec.ts` fails if an upgrade takes
// one of them away. Any folder may import this file, and no other folder imports what is private.

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
