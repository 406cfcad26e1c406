import { hash } from 'node:crypto';

/** A statement for PostgreSQL, with `$1`, `$2`, … in place of its values. */
export interface Statement {
  readonly text: string;
  /** SHA-256 of the text in 43 characters, as the name of a prepared statement has 63 at most. */
  readonly digest: string;
  /** Whether each connection keeps it parsed and planned: for what is sent often, in few variants. */
  readonly prepared: boolean;
}

export function statement(text: string, { prepared }: { prepared: boolean }): Statement {
  return { text, digest: hash('sha256', text, 'base64url'), prepared };
}
