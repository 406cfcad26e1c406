import type { Request } from 'express';
import type { Parameter } from './parameters/query-string.js';

/** A request as the guards and handlers see it. */
export interface CatalogueRequest extends Request {
  /** Names the request in the log and in `X-Request-Id`. */
  id: string;
  /** Every parameter of the query string, in the order sent; parsed once. */
  parameters: readonly Parameter[];
  /** Objects in the answer. */
  rows?: number;
  /** Who asks, once the credentials were checked. */
  client?: { readonly clientID: string; readonly rateLimit: number | null };
  /** Where it came from, if its credentials were refused. */
  refusedAddress?: string;
}
