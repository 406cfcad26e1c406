/** The output of a service as on a terminal: a line of its log in JSON is replaced by its message. */
export function plainLines(output: string): string {
  return output.split('\n').map(plainLine).join('\n');
}

function plainLine(line: string): string {
  if (!line.startsWith('{')) return line;
  try {
    const { message } = JSON.parse(line) as { message?: unknown };
    return typeof message === 'string' ? message : line;
  } catch {
    // A line that has not come in full.
    return line;
  }
}
