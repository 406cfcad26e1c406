import type { Parameter } from './query-string.js';

/** The input of the pipe for `@Query()`: every parameter in the order sent. */
export class SentParameters {
  constructor(readonly list: readonly Parameter[]) {}
}
