/** Whether the log is JSON, for a log collector. On a terminal it is text. */
export function isJsonLog(): boolean {
  return !process.stdout.isTTY;
}

/** Writes a line of the start, whatever `LOG_LEVEL` says: as it is on a terminal, else in JSON. */
export function writeStartLine(level: 'info' | 'warn', message: string): void {
  if (isJsonLog()) {
    const line = { level, pid: process.pid, timestamp: Date.now(), message, context: 'Start' };
    console.log(JSON.stringify(line));
  } else if (level === 'info') console.log(message);
  else console.error(message);
}
