/**
 * The values in a text that separates them by commas. Double quotes around a value keep its commas, and a double quote within
 * them is written twice, as in CSV. `undefined` if a quote is not closed, or if something else than a comma follows the
 * closing one.
 */
export function separatedValues(text: string): string[] | undefined {
  const values: string[] = [];
  const next = /(?:"((?:[^"]|"")*)"|([^",][^,]*|))(,|$)/y;
  for (;;) {
    const found = next.exec(text);
    if (!found) return undefined;
    const [, quoted, bare, end] = found;
    values.push(quoted?.replaceAll('""', '"') ?? bare ?? '');
    if (end === '') return values;
  }
}

/** A value as one of several: in double quotes if it has a comma or begins with a double quote. */
export function separableValue(value: string): string {
  return /^"|,/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
