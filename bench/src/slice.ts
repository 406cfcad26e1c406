import autocannon from 'autocannon';

/** A load on one address for some seconds. */
export interface Slice {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly connections: number;
  readonly seconds: number;
  readonly status: number;
}

export interface SliceResult {
  readonly perSecond: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
}

/** The load has a process of its own, so that its work is not the contenders'. */
process.on('message', (slice: Slice) => {
  load(slice).then(
    (result) => process.send?.(result),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});

async function load({ url, headers, connections, seconds, status }: Slice): Promise<SliceResult> {
  const times: number[] = [];
  const started = performance.now();
  let wrong = '';
  const { errors } = await new Promise<autocannon.Result>((resolve, reject) => {
    const options = { url, headers, connections, duration: seconds, timeout: 60 };
    const instance = autocannon(options, (error: Error | null, result) => {
      if (error) reject(error);
      else resolve(result);
    });
    instance.on('response', (_client, statusCode, _bytes, responseTime) => {
      if (statusCode !== status) wrong = `${url} answered ${statusCode}, not ${status}`;
      times.push(responseTime);
    });
  });
  const passed = (performance.now() - started) / 1000;
  if (wrong) throw new Error(wrong);
  if (errors > 0) throw new Error(`${url}: ${errors} requests failed`);
  times.sort((one, other) => one - other);
  const at = (part: number): number => times[Math.floor(times.length * part)] ?? NaN;
  // A slow contender's last answers come after the time: they are not counted, nor is their time.
  return { perSecond: times.length / Math.max(seconds, passed), p50: at(0.5), p99: at(0.99) };
}
