import autocannon from 'autocannon';
import { answerTasks } from './processes.js';

/** A load on one address for some seconds. */
export interface Slice {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly connections: number;
  readonly seconds: number;
  /** How long it may take instead if there are too few answers for a median. */
  readonly longest: number;
  readonly status: number;
}

export interface SliceResult {
  /** How long it took, as a slice. */
  readonly seconds: number;
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

// The load has a process of its own, so that its work is not the contenders'.
answerTasks(load);

/** Loads an address; one that answers too seldom for a median is given more time. */
async function load(slice: Slice): Promise<SliceResult> {
  const started = performance.now();
  const times = await responseTimes(slice);
  const passed = (performance.now() - started) / 1000;
  if (times.length < slice.connections / 2 && slice.seconds < slice.longest) {
    return load({ ...slice, seconds: slice.longest });
  }
  times.sort((one, other) => one - other);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? NaN;
  const { seconds } = slice;
  return {
    seconds,
    perSecond: times.length / passed,
    p50: at(0.5),
    p99: at(0.99),
  };
}

/** Milliseconds of each answer. */
async function responseTimes(slice: Slice): Promise<number[]> {
  const { url, headers, connections, seconds, longest, status } = slice;
  const times: number[] = [];
  let wrong = '';
  // One that takes too long is a failure to the load, and to us no answer.
  const { errors, timeouts } = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = {
      url,
      headers,
      connections,
      duration: seconds,
      timeout: Math.max(1, longest),
    };
    const instance = autocannon(options, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    });
    instance.on('response', (_client, statusCode, _bytes, responseTime) => {
      if (statusCode !== status) wrong = `${url} answered ${statusCode}, not ${status}`;
      times.push(responseTime);
    });
  });
  if (wrong) throw new Error(wrong);
  if (errors > timeouts) throw new Error(`${url}: ${errors - timeouts} requests failed`);
  return times;
}
