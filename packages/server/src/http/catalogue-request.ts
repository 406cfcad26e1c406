import type { Type } from '@nestjs/common';
import type { Request, Response } from 'express';
import type { ScopeClient } from '../resource/visibility.js';
import type { Observation, RequestTrace } from './observation.js';
import type { SentParameter } from './request-head.js';
import type { ResponseForm } from './negotiation.js';

/** A request as the guards and handlers see it. */
export interface CatalogueRequest extends Request {
  res: Response;
  /** The request id, as in the log and in `X-Request-Id`. */
  id: string;
  /** Every parameter of the query string, decoded, in the order sent. */
  parameters: readonly SentParameter[];
  /** The class that declares them for its path; absent: that of its handler's `@Query()`. */
  queryClass?: Type<object>;
  /** The form of its response; see `formOf`. */
  form?: ResponseForm;
  /** The number of objects in the response. */
  rows?: number;
  /** How its page was read from the database. */
  plan?: Observation['plan'];
  /** The client; set once its credentials are verified. */
  client?: ScopeClient & { readonly rateLimit: number | null };
  /** That of its error response; absent for any other response. */
  errcode?: number;
  /** The status to report if a whole list is cut off: that of its failure, or 0 if its reader left. Absent for others. */
  cutOffAs?: number;
  /** `performance.now()` when its answer was there; absent for an error response. */
  answeredAt?: number;
  /**
   * The `performance.now()` values between which it waited for a change, and the key of its page, which a whole list has not;
   * absent: it has not waited.
   */
  waited?: { readonly began: number; readonly key?: string | undefined; ended?: number };
  /** The trace of the request; absent unless traces are exported. */
  trace?: RequestTrace;
  /** The client's address; set if its credentials were rejected. */
  failedLoginAddress?: string;
}
