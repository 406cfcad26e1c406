/** The names that no resource can have, and the table of TypeORM among them, for the service and the generator. */

/** The service's own tables, except those that it keeps for each resource. */
export const SERVICE_TABLES = [
  'access_tokens',
  'clients',
  'engine',
  'migrations',
  'resource_versions',
  'searches',
  'tallies',
  'tally_orders',
  'typeorm_metadata',
  'watermark',
];

/** Creates the table in which TypeORM keeps the expressions of generated columns. */
export const METADATA_TABLE =
  'CREATE TABLE IF NOT EXISTS "typeorm_metadata" ("type" character varying NOT NULL, "database" character varying, ' +
  '"schema" character varying, "table" character varying, "name" character varying, "value" text)';

/** Common table expressions of its statements, which would hide the table of the resource. */
const EXPRESSIONS = `
  anchor collected counted counted_others counted_titled counts deleted first first_range found locked matching missing
  near numbered object outside page picked picked_others picked_titled position purged ranged ranges rarer rarest reached shown
  start start_range start_rank starts tallied value_at value_at_range value_at_rank vocabulary way way_others way_titled`;

/** Names of the service's own paths, tables and sequences, and names in its SQL. */
const TAKEN = new Set([
  ...['changes', 'docs', 'facets', 'health', 'metrics', 'openapi'],
  ...SERVICE_TABLES,
  ...['watermark_floor', 'import_staging'],
  ...EXPRESSIONS.trim().split(/\s+/),
]);

/** Endings of the tables that the service keeps for each resource. */
const TAKEN_ENDS = ['_deletions', '_tally', '_tally_deltas', '_tally_changes'];
/** Parts of the names of the tallies by columns, and by cells. */
const TAKEN_PARTS = ['_tally_by_', '_tally_cells_by_'];

/**
 * Why no resource can have a name that the service or PostgreSQL gives to a table or a path; `undefined` if one can.
 *
 * @param {string} name
 * @returns {string | undefined} follows the name
 */
export function takenBy(name) {
  if (TAKEN.has(name)) return 'is taken by the service itself';
  const part = TAKEN_PARTS.find((each) => name.includes(each));
  if (part !== undefined) {
    return `is taken by the service itself, as all names with ${part} are`;
  }
  const end = TAKEN_ENDS.find((each) => name.endsWith(each));
  if (end !== undefined) {
    return `is taken by the service itself, as all names that end in ${end} are`;
  }
  return name.startsWith('pg_')
    ? 'is taken by PostgreSQL, as all names that start with pg_ are'
    : undefined;
}
