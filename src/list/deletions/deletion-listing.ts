import type { ObjectLiteral, Repository } from 'typeorm';
import { columnOf, identifierOf, tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import type { Condition, OpaqueSql } from '../condition/condition.js';
import { and } from '../condition/print.js';
import { Listing } from '../listing/listing.js';
import { scopeConditions, visibleIn } from '../listing/scope.js';
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
    // The version of the resource: objects and deletions change in the same transactions.
    super(deletions, query, [filter], [deletion.resource]);
  }

  /** The list as a client sees it. An object that has left the scope of the client is deleted for it. */
  override seenBy(client: ScopeClient | undefined): Listing {
    const { metadata } = this.repository;
    const { identifier } = this.deletion;
    const unseen: Condition = { kind: 'sql', column: identifier, sql: this.isUnseen(client) };
    const scope = scopeConditions(metadata, client);
    const latest: Condition = { kind: 'sql', column: 'deletedAt', sql: this.isLatest(scope) };
    const visible = scopeOf(metadata) ? [...scope, latest] : [];
    return this.withConditions([...this.filters, unseen], visible, client);
  }

  /** A condition on the identifier: the client sees no object with it. */
  private isUnseen(client: ScopeClient | undefined): OpaqueSql {
    const { target } = this.deletion;
    const metadata = this.repository.manager.dataSource.getMetadata(target);
    const conditions = scopeConditions(metadata, client);
    const { databaseName } = identifierOf(metadata);
    return (column, values) => {
      const visible = visibleIn(metadata, conditions, values, 'present');
      // Not EXISTS: PostgreSQL would turn it into a join, which is slower for a few deletions than a
      // lookup of each.
      return `(SELECT true FROM ${tableOf(metadata)} present
        ${and(`WHERE present."${databaseName}" = ${column}`, ...visible)}) IS NULL`;
    };
  }

  /**
   * A condition on the time: of the deletions of an object that the client sees, it is the last one. An
   * object may have left several scopes. So an identifier is in the list once.
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
      const visible = visibleIn(metadata, scope, values, 'later');
      return `(SELECT true FROM ${deletionsTable(resource)} later
        ${and(same, `${place('later')} > ${place(table)}`, ...visible)} LIMIT 1) IS NULL`;
    };
  }
}
