import type { Parameter } from './query-string.js';

/** What a handler's `@Query()` is made of: every parameter as it was sent, in the order sent. */
export class SentParameters {
  constructor(readonly list: readonly Parameter[]) {}
}
