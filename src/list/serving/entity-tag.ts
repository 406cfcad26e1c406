/**
 * The entity tag of a page, RFC 9110, section 8.8.3. Weak, since what is said with it is that the
 * objects are the same, in whatever encoding they are sent.
 *
 * @param key tells the page from others of the same data
 */
export function entityTag(version: string, key: string): string {
  return `W/"${version}-${key.slice(0, 12)}"`;
}

/** Whether an `If-None-Match` names a tag, compared weakly: RFC 9110, section 13.1.2. */
export function namesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const sent: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return sent.includes(tag.slice(2));
}
