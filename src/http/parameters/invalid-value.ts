import type { ApiError } from '../errors.js';

/** Takes the place of a value that could not be read, with the error to respond with. */
export class InvalidValue {
  constructor(
    /** Creates the error, given the parameter's name. */
    readonly toError: (name: string) => ApiError,
  ) {}
}

/** The name of the rule of class-validator that a value is not an `InvalidValue`. */
export const READABLE = 'isReadable';
