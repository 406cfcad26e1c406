/**
 * The entity tag of a page (RFC 9110, section 8.8.3). It is weak, because it is the same for every
 * content coding of the page.
 *
 * @param key distinguishes pages of the same version
 */
export function entityTag(version: string, key: string): string {
  return `W/"${version}-${key.slice(0, 12)}"`;
}

/** Whether `If-None-Match` matches a tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const sent: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return sent.includes(tag.slice(2));
}
