import { type ArgumentMetadata, Injectable, type Type, ValidationPipe } from '@nestjs/common';
import { getMetadataStorage, type ValidationError, ValidationTypes } from 'class-validator';
import { Settings } from '../../settings/settings.js';
import { type ApiError, errors } from '../errors.js';
import { parametersOf, type ReadOptions, readParameter } from './declared-parameters.js';
import { InvalidValue, READABLE } from './invalid-value.js';
import { SentParameters } from './sent-parameters.js';

/**
 * The global ValidationPipe. It converts the sent parameters to the handler's `@Query()` class. Of
 * several errors, it throws the one whose parameter comes first in the query. For a class without
 * further rules it does the same without class-transformer and class-validator, which visit every
 * property of the class and not only those that were sent.
 */
@Injectable()
export class ParametersPipe extends ValidationPipe {
  private readonly hasRules = new Map<Type<object>, boolean>();

  constructor(private readonly settings: Settings) {
    const transformOptions: ReadOptions = { settings };
    super({
      transform: true,
      transformOptions,
      skipUndefinedProperties: true,
      whitelist: true,
      forbidNonWhitelisted: true,
      exceptionFactory: (invalid) => new InvalidParameters(invalid),
    });
  }

  override async transform(value: unknown, metadata: ArgumentMetadata): Promise<unknown> {
    if (!(value instanceof SentParameters)) return super.transform(value, metadata) as unknown;
    const { metatype: query = Object } = metadata;
    let hasRules = this.hasRules.get(query);
    if (hasRules === undefined) this.hasRules.set(query, (hasRules = hasFurtherRules(query)));
    return hasRules ? await this.validated(value, metadata) : this.read(value, query);
  }

  private async validated(sent: SentParameters, metadata: ArgumentMetadata): Promise<unknown> {
    const values = new Map<string, string>();
    for (const { name, value: text } of sent.list) {
      if (!values.has(name)) values.set(name, text);
    }
    try {
      const query = (await super.transform(Object.fromEntries(values), metadata)) as unknown;
      if (values.size < sent.list.length) throw new InvalidParameters([]);
      return query;
    } catch (error) {
      throw error instanceof InvalidParameters ? firstError(sent, error) : error;
    }
  }

  private read({ list }: SentParameters, metatype: Type<object>): object {
    const query = new metatype() as Record<string, unknown>;
    const parameters = parametersOf(metatype);
    const seen = new Set<string>();
    for (const { name, value: text } of list) {
      if (seen.has(name)) throw errors.parameterRepeated(name);
      seen.add(name);
      const parameter = parameters.get(name);
      if (!parameter) throw errors.parameterUndefined(name);
      const value = readParameter(parameter, text, this.settings);
      if (value instanceof InvalidValue) throw value.toError(name);
      query[name] = value;
    }
    return query;
  }
}

/** Whether class-validator has rules for a query class, besides that its values are readable. */
function hasFurtherRules(query: Type<object>): boolean {
  return getMetadataStorage()
    .getTargetValidationMetadatas(query, '', false, false)
    .some(({ type, name }) => type !== ValidationTypes.WHITELIST && name !== READABLE);
}

/** The errors that class-validator found, in no particular order. */
class InvalidParameters extends Error {
  constructor(readonly errors: readonly ValidationError[]) {
    super();
  }
}

function firstError(sent: SentParameters, { errors: invalid }: InvalidParameters): ApiError {
  const seen = new Set<string>();
  for (const { name } of sent.list) {
    if (seen.has(name)) return errors.parameterRepeated(name);
    seen.add(name);
    const error = invalid.find(({ property }) => property === name);
    if (error) return errorOf(error);
  }
  // What remains is a required parameter that the query does not contain.
  return errorOf(invalid[0]);
}

/** Converts a validation error. The rules of class-validator itself supply the text of `-22`. */
function errorOf(error: ValidationError | undefined): ApiError {
  if (!error) return errors.internal();
  const { property: name, constraints = {} } = error;
  const value: unknown = error.value;
  if (value instanceof InvalidValue) return value.toError(name);
  if ('whitelistValidation' in constraints) return errors.parameterUndefined(name);
  if ('isDefined' in constraints) return errors.parameterMissing(name);
  const [message = 'valid'] = Object.values(constraints);
  return errors.parameterInvalid(name, message.replace(/^.* must be /, ''));
}
