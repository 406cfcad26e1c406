/**
 * A statement with parts of it replaced.
 *
 * @throws TypeError for a part that it does not have
 */
export function replaced(statement: string, ...parts: [string, string][]): string {
  return parts.reduce((text, [part, by]) => {
    if (!text.includes(part)) throw new TypeError(`The statement has no ${part}`);
    return text.replace(part, () => by);
  }, statement);
}
