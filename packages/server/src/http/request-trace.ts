import type { Observation } from './observation.js';

/**
 * A phase of a request. One follows the other:
 * - `admission`: its head, the bound on requests in work, the credentials, and the request limit
 * - `validation`: the names and values of its parameters, the limit of its client's requests in work, and its
 *   handler. Between it and the next phase the statements are built
 * - `version`: the lookup of the version of its list
 * - `queue`: the wait for the other reads of its client
 * - `query`: the wait for a connection, and the query. A list with conditions in SQL may have one more before,
 *   which asks what it reads
 * - `serialisation`: the envelope and its compression, or the rows of a whole list on their way
 */
export type Phase = 'admission' | 'validation' | 'version' | 'queue' | 'query' | 'serialisation';

/** The span of a request in a trace, with a span for each of its phases. */
export interface RequestTrace {
  /** As in `traceparent` (https://www.w3.org/TR/trace-context/): 32 and 16 hexadecimal digits. */
  readonly traceId: string;
  readonly spanId: string;

  /** Begins a phase, and ends the one before. */
  enter(phase: Phase): void;

  /** Ends the phase. One that fails ends with the request. */
  leave(): void;

  /** Ends the span of the request. */
  end(observation: Observation): void;
}

/** Runs work as a phase of a request. Without a trace it only runs it. */
export async function traced<T>(
  { trace }: { readonly trace?: RequestTrace },
  phase: Phase,
  work: () => Promise<T>,
): Promise<T> {
  trace?.enter(phase);
  const result = await work();
  trace?.leave();
  return result;
}
