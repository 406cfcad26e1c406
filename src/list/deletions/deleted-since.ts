import { applyDecorators } from '@nestjs/common';
import { IsDefined } from 'class-validator';
import {
  type DeclaredParameter,
  InvalidValue,
  Parameter,
} from '../../http/parameters/declared-parameters.js';
import { errors } from '../../http/errors.js';
import { readDateTime } from '../../resource/formats.js';
import { dateTime, mustBeDateTime } from '../query/parameters.js';
import { RETENTION } from './deletion.js';

const LATEST = '9999-12-31T23:59:59.999Z';
const DAY = 86_400_000;

/** A required time, not earlier than the retention of deletions. Property: `Date`. */
export function DeletedSinceParam(meaning: string): PropertyDecorator {
  return applyDecorators(
    IsDefined(),
    Parameter(declared(meaning), (text) => {
      const time = readDateTime(text);
      if (!time) return mustBeDateTime();
      const earliest = new Date(Date.now() - RETENTION.days * DAY);
      if (time >= earliest) return time;
      return new InvalidValue((name) => errors.outOfRange(name, earliest.toISOString(), LATEST));
    }),
  );
}

function declared(meaning: string): DeclaredParameter {
  return {
    ...dateTime(meaning),
    isRequired: true,
    example: () => new Date(Date.now() - DAY).toISOString(),
  };
}
