import { hash } from 'node:crypto';

/**
 * The entity tag of a page (RFC 9110, section 8.8.3). It is weak, because it is the same for every
 * content coding of the page.
 *
 * @param key distinguishes pages of the same version
 */
export function entityTag(version: string, key: string): string {
  return `W/"${version}-${key.slice(0, 12)}"`;
}

/**
 * The entity tag of a single object, weak for the same reason. It changes with the text of the object,
 * hence also with `fields`, and not with a write that leaves the object as it was.
 *
 * @param json the object as in the response
 */
export function objectTag(json: string): string {
  return `W/"${hash('sha256', json, 'base64url')}"`;
}

/** Whether `If-None-Match` matches a tag, by weak comparison (RFC 9110, section 13.1.2). */
export function matchesTag(ifNoneMatch: string, tag: string): boolean {
  if (ifNoneMatch.trim() === '*') return true;
  const sent: string[] = ifNoneMatch.match(/"[^"]*"/g) ?? [];
  return sent.includes(tag.slice(2));
}
