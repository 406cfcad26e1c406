import type { DataSource } from 'typeorm';

/** What the service installed for a resource, as a text that is equal for equal tables. */
export async function definitionOf(dataSource: DataSource, resource: string): Promise<string> {
  const [{ definition }] = await dataSource.query<[{ definition: string }]>(
    `SELECT string_agg(line, E'\\n' ORDER BY line COLLATE "C") AS definition FROM (
       SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attcollation::regcollation,
         attnotnull, attgenerated, pg_get_expr(adbin, adrelid), (
           SELECT string_agg(enumlabel, ',' ORDER BY enumsortorder) FROM pg_enum WHERE enumtypid = atttypid
         )) AS line
       FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
       LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
       WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       AND (relname = $2 OR relname ~ ('^' || $2 || '_(tally|deletions)')) AND attnum > 0 AND NOT attisdropped
       UNION ALL SELECT concat_ws(' ', 'constraint', conname, pg_get_constraintdef(oid))
       FROM pg_constraint WHERE conrelid = to_regclass($1)
       UNION ALL SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = to_regclass($1)
       UNION ALL SELECT concat_ws(' ', pg_get_triggerdef(pg_trigger.oid), tgenabled, prosrc)
       FROM pg_trigger JOIN pg_proc ON pg_proc.oid = tgfoid
       WHERE tgrelid = to_regclass($1) AND NOT tgisinternal
       UNION ALL SELECT concat_ws(' ', 'tally', to_jsonb(tallies) - 'cuts')
       FROM tallies WHERE resource = $2
     ) lines`,
    [`"${resource}"`, resource],
  );
  return definition;
}

/** The definitions of everything in the schema of the service. */
export async function schemaOf(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ line: string }[]>(
    `WITH relations AS (SELECT oid, relname FROM pg_class WHERE relnamespace = 'public'::regnamespace)
     SELECT concat_ws(' ', relname, attname, format_type(atttypid, atttypmod), attnotnull,
       (SELECT pg_get_expr(adbin, adrelid) FROM pg_attrdef WHERE adrelid = attrelid AND adnum = attnum)) AS line
     FROM relations JOIN pg_attribute ON attrelid = relations.oid WHERE attnum > 0 AND NOT attisdropped
     UNION ALL SELECT pg_get_indexdef(indexrelid) FROM relations JOIN pg_index ON indrelid = oid
     UNION ALL SELECT pg_get_triggerdef(pg_trigger.oid) || tgenabled::text FROM relations JOIN pg_trigger ON tgrelid = relations.oid
     WHERE NOT tgisinternal
     UNION ALL SELECT pg_get_functiondef(oid) FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prokind = 'f'
     ORDER BY line`,
  );
  return rows.map(({ line }) => line);
}
