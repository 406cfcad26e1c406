import { hash } from 'node:crypto';
import type { QueryResult } from 'pg';
import type { DataSource } from 'typeorm';
import { reading } from './reading.js';

/** A statement for PostgreSQL, with `$1`, `$2`, … where its values go. */
export interface Statement {
  readonly text: string;
  /** Tells its text from every other, in 63 characters at most. */
  readonly digest: string;
  /** Whether each connection keeps it parsed and planned: for what is sent often, in few variants. */
  readonly prepared: boolean;
}

export function statement(text: string, { prepared }: { prepared: boolean }): Statement {
  return { text, digest: hash('sha256', text, 'base64url'), prepared };
}

/**
 * Runs a statement that only reads and gives its rows. Past TypeORM, whose query runner takes no named statements
 * and costs more than a short query does.
 */
export async function run<Row extends object>(
  dataSource: DataSource,
  { text, digest, prepared }: Statement,
  values: readonly unknown[],
): Promise<Row[]> {
  const query = { name: prepared ? digest : undefined, text, values: [...values] };
  const { rows }: QueryResult<Row> = await reading(dataSource, (pool) => pool.query(query));
  return rows;
}
