import type { ColumnOptions } from 'typeorm';
import { IDENTIFIER_LENGTH, NAME_LENGTH } from './formats.js';

/** Column options of an identifier or a reference to one. Collation `C` compares byte by byte. */
export const identifierColumn = {
  type: 'varchar',
  length: IDENTIFIER_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/**
 * Column options of a name, or of any text to filter or sort by. The length fits an index, and
 * collation `C` gives the same order on every server.
 */
export const nameColumn = {
  type: 'varchar',
  length: NAME_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/** Column options of a time, with the millisecond precision of responses. */
export const timeColumn = { type: 'timestamptz', precision: 3 } as const satisfies ColumnOptions;
