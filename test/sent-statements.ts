import type { jest } from '@jest/globals';
import type { Pool } from 'pg';

/** A statement that a pool was given. */
export interface SentStatement {
  readonly text: string;
  readonly values: unknown[];
}

/** The statements that a pool was given, except that which reads the records of clients when these are five seconds old. */
export function sentStatements({ mock }: jest.Spied<Pool['query']>): SentStatement[] {
  const calls = mock.calls as unknown as [SentStatement][];
  return calls
    .map(([statement]) => statement)
    .filter(({ text }) => !text.includes('FROM unnest($1::varchar[]) asked'));
}
