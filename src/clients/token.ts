import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new token: 256 random bits, as 43 characters that need no encoding in a URL or a header. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** What is stored of a token. A token is too random to be guessed from it, so it needs no salt. */
export function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Whether two hashes are equal, in a time that does not tell where they differ. */
export function sameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
