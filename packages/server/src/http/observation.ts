/** A request whose answer took longer than a limit. */
export interface SlowRequest {
  /** The time until the answer was there, without its delivery to the reader. */
  readonly milliseconds: number;
  /** The names of its parameters, which are all declared, in the order sent; without the credentials. */
  readonly parameters: readonly string[];
}

/**
 * A completed request, for the log and the metrics. Only the ids of the request and of its trace may
 * contain text from the client, and they have a restricted form.
 */
export interface Observation {
  /** The request id; absent for input that is not a valid request. */
  readonly id?: string;
  /** How its page was read from the database: the plan, and how it was counted. */
  readonly plan?: { readonly name: string; readonly count: string };
  /** The ids of its trace and of its span in it, if there is a trace. */
  readonly traceId?: string;
  readonly spanId?: string;
  /** Absent for input that is not a valid request. */
  readonly method?: string;
  /** The path pattern, such as `/products/:productID`; absent if no route matched. */
  readonly route?: string;
  /** The `clientID`; absent before its credentials are verified. */
  readonly client?: string;
  /** The client's address, if its credentials were rejected. */
  readonly address?: string;
  /** The HTTP status; of a whole list that was cut off, that of its errcode. 0 if the client left before the response ended. */
  readonly status: number;
  /** `0` for a success. */
  readonly errcode: number;
  /** Until the connection has taken the response, or is closed, without a wait for a change; `slow` is without delivery. */
  readonly milliseconds: number;
  /** The number of objects in the response. */
  readonly rows: number;
  /** Absent unless it was slow. */
  readonly slow?: SlowRequest;
}
