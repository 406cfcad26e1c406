import type { DataSource } from 'typeorm';
import { CommandError } from '../command-error.js';
import { RECORDING_RESOURCES } from '../database/installed-resource.js';
import { METADATA_TABLE } from '../resource/reserved-names.js';
import { ownResources, quotedName, resourcesOf } from '../resource/resource.js';
import { type Difference, lineOf, MIGRATION } from './difference.js';
import { externalDifferences } from './external-table.js';
import { isForSpeed, readParts } from './parts/parts.js';
import { schemaChanges } from './schema-changes.js';

/**
 * Compares the entities with tables, indexes, tallies and triggers. Reads no objects; takes about 50 ms.
 *
 * @throws QueryFailedError if a migration of the service itself is missing
 * @throws CommandError if the user may not read a table that the comparison needs
 */
export async function differences(dataSource: DataSource): Promise<Difference[]> {
  await checkReadable(dataSource);
  const found = [
    ...(await tableDifferences(dataSource)),
    ...(await disabledTriggers(dataSource)),
    ...(await closedTables(dataSource)),
    ...(await surplusDifferences(dataSource)),
  ];
  const partsOf = await readParts(dataSource, [...ownResources(dataSource).keys()]);
  for (const [resource, metadata] of resourcesOf(dataSource)) {
    const columns = await externalDifferences(dataSource, metadata);
    found.push(...columns.map((difference) => ({ ...difference, resource })));
    // If its table or a column is missing, the rest is reported after that is fixed.
    if (found.some((other) => other.resource === resource && other.affectsColumns)) continue;
    for (const { part, installed } of partsOf(metadata)) {
      for (const difference of part.differences(metadata, installed)) {
        // Lists that are only slow stay available.
        found.push(isForSpeed(part) ? difference : { ...difference, resource });
      }
    }
  }
  return found;
}

/** @throws CommandError if the user may not read a table that says what is installed */
export async function checkReadable(dataSource: DataSource): Promise<void> {
  const [closed] = await dataSource.query<ClosedTable[]>(
    `SELECT relname AS table, pg_get_userbyid(relowner) AS owner, current_user AS user FROM pg_class
     WHERE relnamespace = quote_ident(current_schema())::regnamespace 
     AND relname IN ('tallies', 'searches', 'typeorm_metadata', 'engine', 'migrations')
     AND NOT has_table_privilege(oid, 'SELECT') ORDER BY relname`,
  );
  if (closed) throw new CommandError(lineOf(closedDifference(closed)));
}

/**
 * What is installed for a resource is so in the role that owns its table, which therefore must have the other tables, too.
 *
 * @throws CommandError if another role owns one of the tables
 */
export async function checkOwners(dataSource: DataSource, resources: string[]): Promise<void> {
  const [other] = await dataSource.query<ClosedTable[]>(
    `SELECT pg_class.relname AS table, pg_get_userbyid(pg_class.relowner) AS owner, pg_get_userbyid(tallies.relowner) AS user
     FROM pg_class JOIN pg_class tallies ON tallies.oid = to_regclass('tallies')
     WHERE pg_class.relnamespace = quote_ident(current_schema())::regnamespace AND pg_class.relname = ANY($1)
     AND pg_class.relowner <> tallies.relowner ORDER BY 1`,
    [[...resources, 'searches', 'resource_versions']],
  );
  if (!other) return;
  const { table, owner, user } = other;
  throw new CommandError(
    `${table} belongs to ${owner}, and the tables of the service to ${user}; run ${ownerRemedy(other)}`,
  );
}

/** Compares the tables of the service with the entities. */
export async function tableDifferences(dataSource: DataSource): Promise<Difference[]> {
  const resources = ownResources(dataSource);
  const { up } = await schemaChanges(dataSource);
  return up.map((statement) => {
    const [, table = ''] = /^(?:CREATE|ALTER) TABLE (?:"\w+"\.)?"(\w+)"/.exec(statement) ?? [];
    const affectsColumns = resources.has(table) && !/ (ADD|DROP) CONSTRAINT /.test(statement);
    // The table is there, or TypeORM could not remove a note from it.
    const isSurplus = statement === METADATA_TABLE || SURPLUS.test(statement);
    return {
      text: `the schema is not as declared, this is lacking: ${statement}`,
      remedy: MIGRATION,
      ...(affectsColumns && !isSurplus && { resource: table, affectsColumns }),
      ...(isSurplus && { isSurplus }),
    };
  });
}

/** Statements that remove what the entities do not declare. */
const SURPLUS =
  /^DROP (INDEX|TYPE) |^ALTER TABLE \S+ DROP (COLUMN|CONSTRAINT) |^DELETE FROM "typeorm_metadata" /;

/** The triggers that are disabled, but for those of parts. */
async function disabledTriggers(dataSource: DataSource): Promise<Difference[]> {
  const triggers = await dataSource.query<{ table: string; name: string }[]>(
    `SELECT relname AS table, tgname AS name
     FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
     WHERE relnamespace = quote_ident(current_schema())::regnamespace AND tgenabled NOT IN ('O', 'A')
     AND tgname NOT IN (SELECT part_triggers.name FROM part_triggers(relname))
     ORDER BY relname, tgname`,
  );
  const resources = ownResources(dataSource);
  return triggers.map(({ table, name }) => ({
    text: `the trigger ${name} on ${table} is disabled`,
    remedy: `run ALTER TABLE "${table}" ENABLE TRIGGER "${name}"`,
    resource: resources.has(table) ? table : undefined,
  }));
}

/** A table of the service that its user may not read or write, as where another user has created it. */
interface ClosedTable {
  readonly table: string;
  readonly owner: string;
  readonly user: string;
}

function closedDifference({ table, owner, user }: ClosedTable): Difference {
  return {
    text: `the user ${user} may not read and write ${table}, which belongs to ${owner}`,
    remedy: `run ${ownerRemedy({ table, user })}`,
  };
}

function ownerRemedy({ table, user }: Pick<ClosedTable, 'table' | 'user'>): string {
  return `ALTER TABLE ${quotedName(table)} OWNER TO ${quotedName(user)}`;
}

async function closedTables(dataSource: DataSource): Promise<Difference[]> {
  const tables = await dataSource.query<(ClosedTable & { resource: string | null })[]>(
    `SELECT relname AS table, resource, pg_get_userbyid(relowner) AS owner, current_user AS user
     FROM pg_class LEFT JOIN tallies
     ON relname IN (resource, resource || '_deletions') OR starts_with(relname, resource || '_tally')
     CROSS JOIN LATERAL unnest(CASE
       WHEN relname IN (resource, 'clients', 'access_tokens') THEN '{SELECT}'
       WHEN relname = 'watermark' THEN '{SELECT,UPDATE}'
       ELSE '{SELECT,INSERT,UPDATE,DELETE}' END::text[]) AS needed(privilege)
     WHERE relnamespace = quote_ident(current_schema())::regnamespace AND relkind = 'r'
     AND (resource IS NOT NULL OR relname IN ('clients', 'access_tokens', 'resource_versions', 'watermark'))
     GROUP BY relname, relowner, pg_class.oid, resource HAVING NOT bool_and(has_table_privilege(pg_class.oid, privilege))
     ORDER BY relname`,
  );
  return tables.map((closed) => ({
    ...closedDifference(closed),
    resource: closed.resource ?? undefined,
  }));
}

/** The resources for which the database has a tally or deletions, whether or not the code has them. */
export async function installedResources(dataSource: DataSource): Promise<string[]> {
  const rows = await dataSource.query<{ resource: string }[]>(
    `SELECT resource FROM tallies
     UNION ${RECORDING_RESOURCES}
     ORDER BY resource`,
  );
  return rows.map(({ resource }) => resource);
}

/** The installed resources of which the code has no entity. */
async function surplusDifferences(dataSource: DataSource): Promise<Difference[]> {
  const resources = ownResources(dataSource);
  const surplus = (await installedResources(dataSource)).filter((name) => !resources.has(name));
  return surplus.map((resource) => ({
    text: `the database has the resource ${resource}, which the code has not`,
    remedy: `bring its code back, or run catalogue drop ${resource}`,
    isSurplus: true,
  }));
}
