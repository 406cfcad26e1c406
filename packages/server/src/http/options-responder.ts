import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { Response } from 'express';
import type { CatalogueRequest } from './request.js';
import { type Answer, successEnvelope } from './envelope.js';
import { ALLOWED_METHODS, ApiError, errors } from './errors.js';
import { queryClassFor, queryClassOf } from './endpoints.js';
import {
  isAllowed,
  type ParameterSchema,
  type ParameterSettings,
  parametersOf,
  schemaOf,
} from './parameters/declared-parameters.js';
import { ParametersPipe, type SentQuery } from './parameters/validation.js';

/** Answers `OPTIONS` with the parameters of the path, after the same checks as for `GET`. */
@Injectable()
export class OptionsResponder {
  constructor(private readonly pipe: ParametersPipe) {}

  async answer(context: ExecutionContext): Promise<Answer> {
    const http = context.switchToHttp();
    const request = http.getRequest<CatalogueRequest>();
    const query = queryClassFor(context);
    const metatype = queryClassOf(context.getClass(), context.getHandler().name);
    await this.pipe
      .transform(request.query, { type: 'query', metatype })
      .catch((error: unknown) => {
        // Required parameters may be missing: the client asks for them.
        if (!(error instanceof ApiError && error.errcode === errors.parameterMissing.errcode)) {
          throw error;
        }
      });
    const { settings } = request.query as unknown as SentQuery;
    const allowed = describedParameters(query, settings);
    request.rows = allowed.length;
    http.getResponse<Response>().setHeader('Allow', ALLOWED_METHODS);
    const page = { count: String(allowed.length), objects: JSON.stringify(allowed) };
    return { status: 200, body: successEnvelope(page) };
  }
}

/** The parameters as `OPTIONS` describes them. A property that does not apply is null. */
function describedParameters(query: Type<object>, settings: ParameterSettings): object[] {
  const allowed = [...parametersOf(query)].filter(([name]) => isAllowed(query, name, settings));
  return allowed.map(([name, parameter]) => {
    const schema = schemaOf(parameter, settings);
    const { type, format, minimum = null, maximum = null } = schema;
    return {
      name,
      // `array`: values separated by commas; `decimal`, `date-time`: strings of that format.
      type: format === 'decimal' || format === 'date-time' ? format : type,
      allowedValues: valuesOf(schema),
      minimum,
      maximum,
      default: schema.default ?? null,
      // A credential may be in a header instead.
      required: false,
      meaning: parameter.meaning,
    };
  });
}

/** Every allowed value of the parameter or, for an array, of its items. */
function valuesOf({ type, enum: values, items }: ParameterSchema) {
  if (type === 'boolean') return [true, false];
  return values ?? items?.enum ?? null;
}
