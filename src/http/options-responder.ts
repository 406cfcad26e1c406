import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../settings/settings.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { type Answer, successEnvelope } from './envelope.js';
import { ALLOWED_METHODS, ApiError, errors } from './errors.js';
import { allowedParameters } from './parameters/allowed-parameters.js';
import { ParametersPipe } from './parameters/parameters.pipe.js';
import { queryClassOf } from './parameters/query-class.js';

/** Answers `OPTIONS` with the parameters of the path, after the same checks as for `GET`. */
@Injectable()
export class OptionsResponder {
  constructor(
    private readonly pipe: ParametersPipe,
    private readonly settings: Settings,
  ) {}

  async answer(context: ExecutionContext): Promise<Answer> {
    const http = context.switchToHttp();
    const request = http.getRequest<CatalogueRequest>();
    const query = queryClassOf(context.getClass(), context.getHandler().name);
    await this.pipe
      .transform(request.query, { type: 'query', metatype: query })
      .catch((error: unknown) => {
        // Required parameters may be missing: the client asks for them.
        if (!(error instanceof ApiError && error.errcode === errors.parameterMissing.errcode)) {
          throw error;
        }
      });
    const page = allowedParameters(query, this.settings);
    request.rows = Number(page.count);
    http.getResponse<Response>().setHeader('Allow', ALLOWED_METHODS);
    return { status: 200, body: successEnvelope(page) };
  }
}
