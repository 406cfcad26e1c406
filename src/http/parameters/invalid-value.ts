import type { ApiError } from '../errors.js';

/** Stands in a query class for a value that could not be read, and says how it is refused. */
export class InvalidValue {
  constructor(
    /** The refusal, given the parameter's name. */
    readonly refusal: (name: string) => ApiError,
  ) {}
}
