import type { MigrationInterface, QueryRunner } from 'typeorm';
import { INSTALL_DELETIONS } from './1763942400000-bound-change-times.js';
import { replaced } from '../replaced-parts.js';
import { INSTALL_TALLY } from './1764201600000-tally-words.js';

/**
 * Lets `install_tally` and `install_deletions` take an identifier of type `integer`, `bigint` or `uuid`, too.
 * The ranges of a tally are then of that type, and the first one is named by its least value. For a text
 * both functions do what they did, so the tallies that there are stay as they are.
 */
export class TypeIdentifiers1764640800000 implements MigrationInterface {
  async up(runner: QueryRunner): Promise<void> {
    await runner.query(IDENTIFIER_TYPE);
    await runner.query(LEAST_IDENTIFIER);
    await runner.query(TYPED_TALLY);
    await runner.query(TYPED_DELETIONS);
  }

  /** @throws QueryFailedError while there is a resource with such an identifier */
  async down(runner: QueryRunner): Promise<void> {
    await runner.query(
      `DO $do$ BEGIN
         IF EXISTS (SELECT FROM tallies WHERE identifier_type(resource, identifier) <> '${TEXT}') THEN
           RAISE 'There is a resource whose identifier is no text: %', (
             SELECT min(resource) FROM tallies WHERE identifier_type(resource, identifier) <> '${TEXT}'
           );
         END IF;
       END $do$`,
    );
    await runner.query(replaced(INSTALL_TALLY, ['CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION']));
    await runner.query(INSTALL_DELETIONS);
    await runner.query('DROP FUNCTION least_identifier(text), identifier_type(text, text)');
  }
}

const TEXT = 'text COLLATE "C"';

/** The type of the identifiers of a resource in its tally. */
const IDENTIFIER_TYPE = `CREATE FUNCTION identifier_type(of_resource text, identifier text) RETURNS text
 LANGUAGE sql STABLE AS $type$
   SELECT CASE typcategory WHEN 'S' THEN '${TEXT}' ELSE format_type(atttypid, NULL) END
   FROM pg_attribute JOIN pg_type ON pg_type.oid = atttypid
   WHERE attrelid = (quote_ident(current_schema()) || '.' || quote_ident(of_resource))::regclass
   AND attname = identifier
 $type$`;

/** The least value of a type of identifiers, as an SQL expression; null for any other type. */
const LEAST_IDENTIFIER = `CREATE FUNCTION least_identifier(type text) RETURNS text LANGUAGE sql IMMUTABLE AS $least$
   SELECT CASE type
     WHEN '${TEXT}' THEN ''''''
     WHEN 'integer' THEN '''-2147483648''::integer'
     WHEN 'bigint' THEN '''-9223372036854775808''::bigint'
     WHEN 'uuid' THEN '''00000000-0000-0000-0000-000000000000''::uuid'
   END
 $least$`;

export const TYPED_TALLY = replaced(
  INSTALL_TALLY,
  ['CREATE FUNCTION', 'CREATE OR REPLACE FUNCTION'],
  [
    '   -- The columns that place an object in any order.',
    `   key_type text := identifier_type(of_resource, identifier);
   -- Names the first range.
   first_key text := least_identifier(key_type);
   -- The columns that place an object in any order.`,
  ],
  [
    '   PERFORM remove_tally(of_resource);',
    `   IF first_key IS NULL THEN
     RAISE 'The identifier % of % must be a text, an integer, a bigint or a uuid, not %', identifier, of_resource, key_type;
   END IF;
   PERFORM remove_tally(of_resource);`,
  ],
  [
    'facet text COLLATE "C", lowest text COLLATE "C", count bigint NOT NULL,',
    `facet text COLLATE "C", lowest ' || key_type || ', count bigint NOT NULL,`,
  ],
  [
    'value %s, lowest text COLLATE "C" NOT NULL, count',
    `value %s, lowest ' || key_type || ' NOT NULL, count`,
  ],
  [`first_bounds := '''''';`, 'first_bounds := first_key;'],
  [`first_bounds := 'NULL, ''''';`, `first_bounds := 'NULL, ' || first_key;`],
  [`is_later := 'lowest <> ''''';`, `is_later := 'lowest <> ' || first_key;`],
  [
    `), '''') AS lowest, "#step" FROM @faceted`,
    `), ' || first_key || ') AS lowest, "#step" FROM @faceted`,
  ],
  [
    `coalesce(range.lowest, '''') AS lowest`,
    `coalesce(range.lowest, ' || first_key || ') AS lowest`,
  ],
  [
    `SELECT facet, '''', total FROM (%s) sums'`,
    `SELECT facet, ' || first_key || ', total FROM (%s) sums'`,
  ],
);

const TYPED_DELETIONS = replaced(INSTALL_DELETIONS, [
  `%I varchar(100) COLLATE "C" PRIMARY KEY`,
  `%I ' || replace(identifier_type(of_resource, identifier), 'text', 'varchar(100)') || ' PRIMARY KEY`,
]);
