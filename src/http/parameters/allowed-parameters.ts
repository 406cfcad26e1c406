import type { Type } from '@nestjs/common';
import { type ParameterSchema, parametersOf } from './declared-parameters.js';
import type { Page } from '../envelope.js';

/** A parameter as `OPTIONS` tells of it: what does not apply to it is null. */
export interface AllowedParameter {
  readonly name: string;
  /** `array`: values separated by commas; `decimal`, `date-time`: texts of that form. */
  readonly type: string;
  /** Every value that it may have, of an array every value that may be in it. */
  readonly allowedValues: readonly (string | boolean)[] | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly default: unknown;
  readonly required: boolean;
  readonly meaning: string;
}

/** The parameters that an endpoint with a query class takes, as a page of them all. */
export function allowedParameters(query: Type<object>): Page {
  const allowed = [...parametersOf(query)].map(
    ([name, { schema, meaning, isRequired = false }]): AllowedParameter => ({
      name,
      type:
        schema.format === 'decimal' || schema.format === 'date-time' ? schema.format : schema.type,
      allowedValues: valuesOf(schema),
      minimum: schema.minimum ?? null,
      maximum: schema.maximum ?? null,
      default: schema.default ?? null,
      required: isRequired,
      meaning,
    }),
  );
  return { count: String(allowed.length), objects: JSON.stringify(allowed) };
}

function valuesOf({ type, enum: values, items }: ParameterSchema) {
  if (type === 'boolean') return [true, false];
  return values ?? items?.enum ?? null;
}
