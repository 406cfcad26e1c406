import type { DataSource } from 'typeorm';

// While an import has dropped the indexes of a table, it locks out readers. It has had a weaker lock since its checks, by which
// services know of it: they answer at once, and no request waits with a connection of the pool.

/** Locks out writers, and announces that readers are locked out next. Nothing else takes a lock of this mode. */
export const LOADING_MODE = 'EXCLUSIVE';

/** Which of these tables an import has locked, or is about to lock, against readers. Takes no lock. */
export async function loadingTables(
  dataSource: DataSource,
  tables: readonly string[],
): Promise<string[]> {
  const rows = await dataSource.query<{ name: string }[]>(
    `SELECT DISTINCT relname AS name FROM pg_locks JOIN pg_class ON pg_class.oid = relation
     WHERE mode = 'ExclusiveLock' AND granted AND locktype = 'relation'
     AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
     AND relnamespace = quote_ident(current_schema())::regnamespace AND relname = ANY($1)`,
    [tables],
  );
  return rows.map(({ name }) => name);
}
