import { type ApiError, errors } from '../http/errors.js';

/** The error `-40` for a limit per minute, with `Retry-After`: when its window ends, after some milliseconds. */
export function limitExceeded(limit: number, milliseconds: number): ApiError {
  const seconds = String(wholeSeconds(milliseconds));
  return errors.limitExceeded(String(limit)).withHeaders({ 'Retry-After': seconds });
}

/** The whole seconds after which a window has ended, at minimum 1. */
export function wholeSeconds(milliseconds: number): number {
  return Math.max(1, Math.ceil(milliseconds / 1000));
}
