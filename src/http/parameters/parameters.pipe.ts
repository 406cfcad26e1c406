import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { Settings } from '../../settings/settings.js';
import { type ApiError, errors } from '../errors.js';
import type { ReadOptions } from './declared-parameters.js';
import { InvalidValue } from './invalid-value.js';
import { SentParameters } from './sent-parameters.js';

/**
 * The global ValidationPipe. It converts the sent parameters to the handler's `@Query()` class. Of
 * several errors, it throws the one whose parameter comes first in the query.
 */
@Injectable()
export class ParametersPipe extends ValidationPipe {
  constructor(settings: Settings) {
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
    const values = new Map<string, string>();
    for (const { name, value: text } of value.list) {
      if (!values.has(name)) values.set(name, text);
    }
    try {
      const query = (await super.transform(Object.fromEntries(values), metadata)) as unknown;
      if (values.size < value.list.length) throw new InvalidParameters([]);
      return query;
    } catch (error) {
      throw error instanceof InvalidParameters ? firstError(value, error) : error;
    }
  }
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
