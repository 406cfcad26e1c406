import type { ColumnOptions } from 'typeorm';
import { IDENTIFIER_LENGTH, NAME_LENGTH } from './formats.js';

/** Column options of an identifier and of a reference to one: compared byte by byte. */
export const identifierColumn = {
  type: 'varchar',
  length: IDENTIFIER_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/**
 * Column options of a name, and of any text that is filtered or sorted by: short enough for an index,
 * and ordered by code point on every server.
 */
export const nameColumn = {
  type: 'varchar',
  length: NAME_LENGTH,
  collation: 'C',
} as const satisfies ColumnOptions;

/** Column options of a time, stored to the millisecond as it is shown. */
export const timeColumn = { type: 'timestamptz', precision: 3 } as const satisfies ColumnOptions;
