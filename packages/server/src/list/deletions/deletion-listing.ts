import type { EntityMetadata } from 'typeorm';
import { identifierOf, nameOf, tableOf } from '../../resource/resource.js';
import { DELETIONS } from '../../resource/declaration.js';
import type { OpaqueSql } from '../condition/condition.js';
import { and, sqlEach } from '../condition/print.js';
import { Listing, type VisibleConditions, type VisibleRows } from '../listing/listing.js';

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
