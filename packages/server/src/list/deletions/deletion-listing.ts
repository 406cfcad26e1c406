import type { ObjectLiteral, Repository } from 'typeorm';
import { columnOf, identifierOf, tableOf } from '../../resource/resource.js';
import { scopeOf } from '../../resource/visibility.js';
import type { Condition, OpaqueSql } from '../condition/condition.js';
import { and, sqlEach } from '../condition/print.js';
import { Listing, type VisibleConditions, type VisibleRows } from '../listing/listing.js';
import { type DeletionEntity, deletionsTable, recordedColumns } from './deletion.js';

/** The list of a resource's deletions since a time, without the objects that exist again. */
export class DeletionListing extends Listing {
  constructor(
    deletions: Repository<ObjectLiteral>,
    query: Listing['query'],
    private readonly deletion: DeletionEntity,
    override readonly since: Date,
  ) {
    const lower = { value: since, inclusive: true };
    const filter: Condition = { kind: 'interval', column: 'deletedAt', lower };
    super(deletions, query, [filter]);
  }

  /** Objects and deletions change in the same transactions. */
  override get resource(): string {
    return this.deletion.resource;
  }

  /** An object that has left the scope of the client is deleted for it. */
  override visible(rows: VisibleRows): VisibleConditions {
    const { metadata } = this.repository;
    const { identifier } = this.deletion;
    const unseen: Condition = { kind: 'sql', column: identifier, sql: this.isUnseen(rows) };
    const scope = rows(metadata);
    const latest: Condition = { kind: 'sql', column: 'deletedAt', sql: this.isLatest(scope) };
    return { filters: [...this.filters, unseen], scope: [...scope, latest] };
  }

  /** A condition on the identifier: the client sees no object with it. */
  private isUnseen(rows: VisibleRows): OpaqueSql {
    const { target } = this.deletion;
    const metadata = this.repository.manager.dataSource.getMetadata(target);
    const conditions = rows(metadata);
    const { databaseName } = identifierOf(metadata);
    return (column, values) => {
      const visible = sqlEach(conditions, { metadata, values, table: 'present' });
      // Not EXISTS: PostgreSQL would turn it into a join, which is slower for a few deletions than a
      // lookup of each.
      return `(SELECT true FROM ${tableOf(metadata)} present
        ${and(`WHERE present."${databaseName}" = ${column}`, ...visible)}) IS NULL`;
    };
  }

  /**
   * A condition on the time: of the deletions of an object that the client sees, it is the last one. An
   * object may have left several scopes, also of another release. So an identifier is in the list once.
   */
  private isLatest(scope: readonly Condition[]): OpaqueSql {
    const { resource, identifier } = this.deletion;
    const { metadata } = this.repository;
    const { databaseName } = identifierOf(metadata);
    const recorded = recordedColumns(scopeOf(metadata), identifier).map(
      (name) => columnOf(metadata, name).databaseName,
    );
    const place = (table: string): string =>
      `(${table}."deletedAt", ROW(${recorded.map((name) => `${table}."${name}"`).join(', ')})::text)`;
    return (_, values, table) => {
      const same = `WHERE later."${databaseName}" = ${table}."${databaseName}"`;
      const visible = sqlEach(scope, { metadata, values, table: 'later' });
      return `(SELECT true FROM ${deletionsTable(resource)} later
        ${and(same, `${place('later')} > ${place(table)}`, ...visible)} LIMIT 1) IS NULL`;
    };
  }
}
