import type { Type } from '@nestjs/common';
import {
  type ParameterSchema,
  type ParameterSettings,
  parametersOf,
  schemaOf,
} from './declared-parameters.js';
import type { Page } from '../envelope.js';

/** A parameter as `OPTIONS` describes it. A property that does not apply is null. */
interface AllowedParameter {
  readonly name: string;
  /** `array`: values separated by commas; `decimal`, `date-time`: strings of that format. */
  readonly type: string;
  /** Every allowed value of the parameter or, for an array, of its items. */
  readonly allowedValues: readonly (string | boolean)[] | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  readonly default: unknown;
  readonly required: boolean;
  readonly meaning: string;
}

/** The parameters of a query class, as the page that `OPTIONS` returns. */
export function allowedParameters(query: Type<object>, settings: ParameterSettings): Page {
  const allowed = [...parametersOf(query)].map(([name, parameter]): AllowedParameter => {
    const schema = schemaOf(parameter, settings);
    const { type, format, minimum = null, maximum = null } = schema;
    return {
      name,
      type: format === 'decimal' || format === 'date-time' ? format : type,
      allowedValues: valuesOf(schema),
      minimum,
      maximum,
      default: schema.default ?? null,
      required: parameter.isRequired ?? false,
      meaning: parameter.meaning,
    };
  });
  return { count: String(allowed.length), objects: JSON.stringify(allowed) };
}

function valuesOf({ type, enum: values, items }: ParameterSchema) {
  if (type === 'boolean') return [true, false];
  return values ?? items?.enum ?? null;
}
