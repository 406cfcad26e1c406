import { type ExecutionContext, Injectable } from '@nestjs/common';
import type { Response } from 'express';
import { Settings } from '../settings/settings.js';
import type { CatalogueRequest } from './catalogue-request.js';
import { type Answer, successEnvelope } from './envelope.js';
import { ApiError, errors } from './errors.js';
import { allowedParameters } from './parameters/allowed-parameters.js';
import { CredentialsQueryDto } from './parameters/credentials-query.dto.js';
import { ParametersPipe } from './parameters/parameters.pipe.js';
import { queryClass } from './parameters/query-class.js';

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
    const query = queryClass(context.getClass(), context.getHandler().name) ?? CredentialsQueryDto;
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
    http.getResponse<Response>().setHeader('Allow', 'GET, HEAD, OPTIONS');
    return { status: 200, body: successEnvelope(page) };
  }
}
