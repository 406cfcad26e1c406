import type { Type } from '@nestjs/common';
import {
  Column,
  type ColumnOptions,
  type DataSource,
  Entity,
  type EntityMetadata,
  getMetadataArgsStorage,
  PrimaryColumn,
  type PrimaryColumnOptions,
} from 'typeorm';
import { DELETIONS, type Scope } from '../../resource/declaration.js';
import { scopeOf } from '../../resource/visibility.js';
import { identifierColumn, timeColumn } from '../../resource/column-types.js';
import { isTextIdentifier } from '../../resource/formats.js';
import { identifierOf, nameOf, resourceName, tableOf } from '../../resource/resource.js';
import type { OpaqueSql } from '../condition/condition.js';
import { and, sqlEach } from '../condition/print.js';
import { Listing, type VisibleConditions, type VisibleRows } from '../listing/listing.js';

/**
 * Days for which clients can ask for a deletion, and further days before it is removed. With more days than before, deletions
 * that were removed already are missing.
 */
export const RETENTION = { days: 30, extraDays: 1 };

/** The table of a resource's deletions, quoted. The SQL function `install_deletions` creates it. */
export function deletionsTable(resource: string): string {
  return `"${resource}_deletions"`;
}

/** The columns of a resource that its deletions record besides the identifier: those of its scope. */
export function recordedColumns(scope: Scope | undefined, identifier: string): string[] {
  return (scope?.columns ?? []).filter((column) => column !== identifier);
}

/** Creates the entity for the deletions of a resource. */
export function deletionOf(target: Type): Type {
  const columns = getMetadataArgsStorage().filterColumns(target);
  const key = columns.find(({ options }) => options.primary);
  const identifier = key?.propertyName ?? '';
  class Deletion {
    deletedAt!: Date;
  }
  Object.defineProperty(Deletion, 'name', { value: `${target.name}Deletion` });
  // Not synchronized: it is created together with its triggers.
  Entity({ name: `${resourceName(target)}_deletions`, synchronize: false })(Deletion);
  DELETIONS.set(Deletion, target);
  const { prototype } = Deletion;
  PrimaryColumn(keyColumn(key?.options))(prototype, identifier);
  Column({ ...timeColumn, name: 'deletedAt' })(prototype, 'deletedAt');
  for (const name of recordedColumns(scopeOf({ target }), identifier)) {
    const options = columns.find(({ propertyName }) => propertyName === name)?.options;
    Column({ ...options, primary: false, select: false, nullable: true })(prototype, name);
  }
  return Deletion;
}

/** As `install_deletions` creates it. */
function keyColumn(options: ColumnOptions = {}): PrimaryColumnOptions {
  const { name, type } = options;
  return isTextIdentifier(type) ? { ...identifierColumn, name } : { name, type };
}

/** Removes the deletions of a resource that are past their retention. */
export async function purgeDeletions(
  dataSource: DataSource,
  metadata: EntityMetadata,
): Promise<void> {
  await dataSource.query(
    `DELETE FROM ${deletionsTable(nameOf(metadata))}
     WHERE "deletedAt" < now() - interval '${RETENTION.days + RETENTION.extraDays} days'`,
  );
}

/** The identifiers of a resource's objects that were deleted since a time, without those that exist again. */
export class DeletionListing extends Listing {
  constructor(
    private readonly deleted: EntityMetadata,
    since: Date,
  ) {
    const { dataSource, target } = deleted;
    const recorded = dataSource.entityMetadatas.find(
      (each) => DELETIONS.get(each.target as object) === target,
    );
    if (!recorded) throw new TypeError(`No deletions of ${deleted.name} are recorded`);
    const query = { fields: [identifierOf(deleted).propertyName] };
    const lower = { value: since, inclusive: true };
    super(dataSource.getRepository(recorded.target), query, [
      { kind: 'interval', column: 'deletedAt', lower },
    ]);
  }

  /** Objects and deletions change in the same transactions. */
  override get resource(): string {
    return nameOf(this.deleted);
  }

  /**
   * An object that has left the scope of the client is deleted for it. Of the deletions of an object that it sees, the list
   * has the last one: it may have left several scopes, also of another release.
   */
  override visible(rows: VisibleRows): VisibleConditions {
    const { deleted } = this;
    const { metadata } = this.repository;
    const { propertyName: identifier, databaseName } = identifierOf(metadata);
    const scope = rows(metadata);
    const isUnseen: OpaqueSql = (column, values) => {
      const visible = sqlEach(rows(deleted), { metadata: deleted, values, table: 'present' });
      // Not EXISTS: PostgreSQL would turn it into a join, which is slower for a few deletions than a
      // lookup of each.
      return `(SELECT true FROM ${tableOf(deleted)} present
        ${and(`WHERE present."${databaseName}" = ${column}`, ...visible)}) IS NULL`;
    };
    const place = (table: string): string => `(${table}."deletedAt", (${table}.*)::text)`;
    const isLatest: OpaqueSql = (_, values, table) => {
      const same = `WHERE later."${databaseName}" = ${table}."${databaseName}"`;
      const visible = sqlEach(scope, { metadata, values, table: 'later' });
      return `(SELECT true FROM ${tableOf(metadata)} later
        ${and(same, `${place('later')} > ${place(table)}`, ...visible)} LIMIT 1) IS NULL`;
    };
    return {
      filters: [...this.filters, { kind: 'sql', column: identifier, sql: isUnseen }],
      scope: [...scope, { kind: 'sql', column: 'deletedAt', sql: isLatest }],
    };
  }
}
