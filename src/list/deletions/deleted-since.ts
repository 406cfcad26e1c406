import { applyDecorators } from '@nestjs/common';
import { IsDefined } from 'class-validator';
import type { DeclaredParameter } from '../../http/parameters/declared-parameters.js';
import { errors } from '../../http/errors.js';
import { InvalidValue } from '../../http/parameters/invalid-value.js';
import { readDateTime } from '../../resource/formats.js';
import { dateTime, mustBeDateTime, Parameter } from '../parameters.js';
import { KEPT } from './deletion.js';

const LATEST = '9999-12-31T23:59:59.999Z';
const DAY = 86_400_000;

/** A time since which every deletion is known; required. Property: `Date`. */
export function DeletedSinceParam(meaning: string): PropertyDecorator {
  return applyDecorators(
    IsDefined(),
    Parameter(declared(meaning), (text) => {
      const time = readDateTime(text);
      if (!time) return mustBeDateTime();
      const earliest = new Date(Date.now() - KEPT.days * DAY);
      if (time >= earliest) return time;
      return new InvalidValue((name) => errors.outOfRange(name, earliest.toISOString(), LATEST));
    }),
  );
}

/** With an example that is taken whenever it is tried. */
function declared(meaning: string): DeclaredParameter {
  return {
    ...dateTime(meaning),
    isRequired: true,
    get example() {
      return new Date(Date.now() - DAY).toISOString();
    },
  };
}
