import { hash, randomBytes, timingSafeEqual } from 'node:crypto';

/** Format of a client's identifier. Visible ASCII, so that it can be sent in a header. */
export const CLIENT_ID = /^[\x21-\x7e]{1,100}$/;

/** Generates a token: 256 random bits as 43 characters of base64url, safe in URLs and headers. */
export function newToken(): string {
  return randomBytes(32).toString('base64url');
}

/** SHA-256 of a token, 32 bytes. Needs no salt: a token of 256 random bits cannot be guessed. */
export function hashOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Whether two hashes are equal, compared in constant time. */
export function isSameHash(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
