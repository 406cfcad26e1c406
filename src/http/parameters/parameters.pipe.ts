import { type ArgumentMetadata, Injectable, ValidationPipe } from '@nestjs/common';
import type { ValidationError } from 'class-validator';
import { Settings } from '../../settings/settings.js';
import { type ApiError, errors } from '../errors.js';
import type { ReadOptions } from './declared-parameters.js';
import { InvalidValue } from './invalid-value.js';
import { SentParameters } from './sent-parameters.js';

/**
 * The global ValidationPipe: turns what was sent into the handler's `@Query()` class. Of several
 * things wrong, the one that stands first in the query is refused.
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
      throw error instanceof InvalidParameters ? firstRefusal(value, error) : error;
    }
  }
}

/** What class-validator found, until it is known which of it stands first in the query. */
class InvalidParameters extends Error {
  constructor(readonly errors: readonly ValidationError[]) {
    super();
  }
}

function firstRefusal(sent: SentParameters, { errors: invalid }: InvalidParameters): ApiError {
  const seen = new Set<string>();
  for (const { name } of sent.list) {
    if (seen.has(name)) return errors.parameterRepeated(name);
    seen.add(name);
    const error = invalid.find(({ property }) => property === name);
    if (error) return refusal(error);
  }
  // A required parameter that is missing stands nowhere in the query.
  return refusal(invalid[0]);
}

/** One finding as the client is told it. Rules of class-validator's own are worded by their message. */
function refusal(error: ValidationError | undefined): ApiError {
  if (!error) return errors.internal();
  const { property: name, constraints = {} } = error;
  const value: unknown = error.value;
  if (value instanceof InvalidValue) return value.refusal(name);
  if ('whitelistValidation' in constraints) return errors.parameterUndefined(name);
  if ('isDefined' in constraints) return errors.parameterMissing(name);
  const [message = 'valid'] = Object.values(constraints);
  return errors.parameterInvalid(name, message.replace(/^.* must be /, ''));
}
