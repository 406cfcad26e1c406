import { applyDecorators } from '@nestjs/common';
import { IsDefined } from 'class-validator';
import { errors } from '../../http/errors.js';
import { InvalidValue } from '../../http/invalid-value.js';
import { readDateTime } from '../formats.js';
import { dateTime, mustBeDateTime, Parameter } from '../parameters.js';
import { KEPT } from './deletion.js';

const LATEST = '9999-12-31T23:59:59.999Z';
const DAY = 86_400_000;

/** A time since which every deletion is known; required. Property: `Date`. */
export function DeletedSinceParam(meaning: string): PropertyDecorator {
  return applyDecorators(
    IsDefined(),
    Parameter({ ...dateTime(meaning), isRequired: true, example: LATEST }, (text) => {
      const time = readDateTime(text);
      if (!time) return mustBeDateTime();
      const earliest = new Date(Date.now() - KEPT.days * DAY);
      if (time >= earliest) return time;
      return new InvalidValue((name) => errors.outOfRange(name, earliest.toISOString(), LATEST));
    }),
  );
}
