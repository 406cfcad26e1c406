import {
  type ArgumentMetadata,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type Type,
  ValidationPipe,
} from '@nestjs/common';
import { getMetadataStorage, validate, type ValidationError } from 'class-validator';
import type { ValidationMetadata } from 'class-validator/types/metadata/ValidationMetadata.js';
import type { ScopeClient } from '../../resource/visibility.js';
import { Settings } from '../../settings/settings.js';
import type { CatalogueRequest, SentParameter } from '../request.js';
import { queryClassFor } from '../endpoints.js';
import { type ApiError, errors } from '../errors.js';
import {
  InvalidValue,
  isAllowed,
  type ParameterSettings,
  parametersOf,
  readParameters,
  settingsFor,
} from './declared-parameters.js';

/**
 * Throws `-23` for the first parameter that the handler's `@Query()` class does not declare, or that is not for the
 * client. Without such a class, only the credentials are allowed. It checks the names before any of them becomes a
 * property, so `__proto__` is a name like any other.
 */
@Injectable()
export class ParametersGuard implements CanActivate {
  constructor(private readonly settings: Settings) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    request.trace?.enter('validation');
    const query = queryClassFor(context);
    const sent = sentQuery(query, request.parameters, this.settings, request.client);
    // An own property, because the getter of Express parses the query at every access. A request that waits gets another.
    Object.defineProperty(request, 'query', { value: sent, configurable: true });
    return true;
  }
}

/** @throws ApiError `-23` for the first parameter that a query class does not declare, or that is not for the client */
export function sentQuery(
  query: Type<object>,
  parameters: readonly SentParameter[],
  settings: Settings,
  client: ScopeClient | undefined,
): SentQuery {
  const bounds = settingsFor(settings, client);
  for (const { name } of parameters) {
    if (!isAllowed(query, name, bounds)) throw errors.parameterUndefined(name);
  }
  return { parameters, settings: bounds, queryClass: query };
}

/** What a request asks for by its query: the value of a `@Query()` argument before the pipe. */
export interface SentQuery {
  /** Decoded, in the order sent. */
  readonly parameters: readonly SentParameter[];
  /** What bounds them. */
  readonly settings: ParameterSettings;
  /** The class that declares them. */
  readonly queryClass: Type<object>;
}

/** An optional parameter that was not sent breaks no rule. */
const RULES = { skipUndefinedProperties: true };

/**
 * The global ValidationPipe. It reads the sent parameters by their declarations, and applies the rules of class-validator
 * that the handler's `@Query()` class has besides. The handler gets an object of that class, with the parameters that it
 * declares as the class of the request does. Of several errors, the pipe throws the one whose parameter comes first in the
 * query.
 */
@Injectable()
export class ParametersPipe extends ValidationPipe {
  constructor() {
    super({ transform: true, ...RULES, whitelist: true, forbidNonWhitelisted: true });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    const { type, metatype = Object } = metadata;
    if (type !== 'query') return super.transform(value, metadata) as unknown;
    const { parameters: sent, settings, queryClass } = value as SentQuery;
    const declared = parametersOf(queryClass);
    // In the order sent, as the conditions of a list are. Of a repeated name, which is refused below, the first text.
    const texts = new Map<string, string>();
    for (const { name, value: text } of sent) if (!texts.has(name)) texts.set(name, text);
    const query = readParameters(queryClass, texts, settings);
    const broken =
      rulesOf(metatype).length > 0
        ? await validate(forHandler(query, queryClass, metatype), RULES)
        : [];
    const seen = new Set<string>();
    for (const { name } of sent) {
      if (seen.has(name)) throw errors.parameterRepeated(name);
      seen.add(name);
      const parameter = declared.get(name);
      if (!parameter) throw errors.parameterUndefined(name);
      if (parameter.readBeside && !(query[name] instanceof InvalidValue)) {
        query[name] = parameter.readBeside(query[name], query, settings);
      }
      const value = query[name];
      if (value instanceof InvalidValue) throw value.toError(name);
      const error = broken.find(({ property }) => property === name);
      if (error) throw errorOf(error);
    }
    // What remains is a required parameter that the query does not contain.
    if (broken[0]) throw errorOf(broken[0]);
    return forHandler(query, queryClass, metatype);
  }
}

/** A query as an object of the handler's class, with the parameters that both classes declare alike. */
function forHandler(query: object, queryClass: Type<object>, type: Type<object>): object {
  if (queryClass === type) return query;
  const [sent, taken] = [parametersOf(queryClass), parametersOf(type)];
  const alike = Object.entries(query).filter(([name]) => sent.get(name) === taken.get(name));
  return Object.assign(new type(), Object.fromEntries(alike));
}

/** The rules of class-validator for a query class. */
export function rulesOf(query: new () => object): ValidationMetadata[] {
  return getMetadataStorage().getTargetValidationMetadatas(query, '', false, false);
}

/** The rules of class-validator supply the text of `-22`. */
function errorOf({ property: name, constraints = {} }: ValidationError): ApiError {
  if ('isDefined' in constraints) return errors.parameterMissing(name);
  const [message = 'valid'] = Object.values(constraints);
  return errors.parameterInvalid(name, message.replace(/^.* must be /, ''));
}
