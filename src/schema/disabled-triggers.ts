import type { DataSource } from 'typeorm';
import { resourcesWith } from '../resource/capabilities.js';
import type { Difference } from './difference.js';

/** The triggers that are disabled, without those on tables of others, which may be in the same schema. */
export async function disabledTriggers(dataSource: DataSource): Promise<Difference[]> {
  const triggers = await dataSource.query<{ table: string; name: string }[]>(
    `SELECT relname AS table, tgname AS name
     FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid JOIN pg_proc ON pg_proc.oid = tgfoid
     WHERE relnamespace = current_schema()::regnamespace AND tgenabled NOT IN ('O', 'A')
     AND proname NOT IN (
       SELECT format('keep_%s_%s', resource, kept) FROM tallies, unnest('{tally,changes}'::text[]) kept
       WHERE tracked IS NOT NULL
     )
     ORDER BY relname, tgname`,
  );
  const resources = resourcesWith('written', dataSource);
  return triggers.map(({ table, name }) => {
    const isAlways = /_(tally|deletions)_[a-z]+$/.test(name);
    return {
      text: `the trigger ${name} on ${table} is disabled`,
      remedy: `run ALTER TABLE "${table}" ENABLE ${isAlways ? 'ALWAYS ' : ''}TRIGGER "${name}"`,
      resource: resources.has(table) ? table : undefined,
    };
  });
}
