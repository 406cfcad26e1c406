/**
 * An `AbortSignal` that SIGINT or SIGTERM aborts. A second SIGINT ends the process immediately.
 * Further SIGTERMs are ignored; use SIGKILL.
 */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const abort = (): void => {
    stop.abort();
  };
  process.once('SIGINT', abort);
  process.on('SIGTERM', abort);
  return stop.signal;
}
