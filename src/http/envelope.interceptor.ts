import {
  type CallHandler,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
} from '@nestjs/common';
import { map, type Observable } from 'rxjs';
import { type Page, success } from './envelope.js';

/** Wraps what a handler returns into the envelope of a successful answer. */
@Injectable()
export class EnvelopeInterceptor implements NestInterceptor<Page, string> {
  intercept(_context: ExecutionContext, next: CallHandler<Page>): Observable<string> {
    return next.handle().pipe(map(success));
  }
}
