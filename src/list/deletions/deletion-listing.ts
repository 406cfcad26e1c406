import {
  type FindOperator,
  MoreThanOrEqual,
  type ObjectLiteral,
  Raw,
  type Repository,
} from 'typeorm';
import { columnOf, tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { Listing } from '../listing/listing.js';
import { NamedParameters } from '../listing/named-parameters.js';
import { scopeConditions, visibleIn } from '../listing/scope.js';
import { and } from '../listing/where.js';
import { type DeletionEntity, deletionsTable, recordedColumns } from './deletion.js';

/** The list of a resource's deletions since a time, without the objects that exist again. */
export class DeletionListing extends Listing {
  constructor(
    deletions: Repository<ObjectLiteral>,
    query: Listing['query'],
    private readonly deletion: DeletionEntity,
    private readonly since: Date,
  ) {
    // The version of the resource: objects and deletions change in the same transactions.
    super(deletions, query, [{ deletedAt: MoreThanOrEqual(since) }], [deletion.resource]);
  }

  /** The list as a client sees it. An object that has left the scope of the client is deleted for it. */
  override seenBy(client: ScopeClient | undefined): Listing {
    const { metadata } = this.repository;
    const filters = [
      {
        deletedAt: MoreThanOrEqual(this.since),
        [this.deletion.identifier]: this.isUnseen(client),
      },
    ];
    const scope = scopeConditions(metadata, client);
    return this.withConditions(
      filters,
      scopeOf(metadata) ? [...scope, { deletedAt: this.isLatest(scope) }] : [],
      client,
    );
  }

  /** A condition on the identifier: the client sees no object with it. */
  private isUnseen(client: ScopeClient | undefined): FindOperator<string> {
    const { identifier, target } = this.deletion;
    const metadata = this.repository.manager.dataSource.getMetadata(target);
    const values = new NamedParameters();
    const visible = visibleIn(metadata, scopeConditions(metadata, client), 'present', values);
    // Not EXISTS: PostgreSQL would turn it into a join, which is slower for a few deletions than a
    // lookup of each.
    return Raw(
      (column) =>
        `(SELECT true FROM ${tableOf(metadata)} present
          ${and(`WHERE present."${identifier}" = ${column}`, ...visible)}) IS NULL`,
      values.values,
    ) as FindOperator<string>;
  }

  /**
   * A condition on the time: of the deletions of an object that the client sees, it is the last one. An
   * object may have left several scopes. So an identifier is in the list once.
   */
  private isLatest(scope: readonly ObjectLiteral[]): FindOperator<Date> {
    const { resource, identifier } = this.deletion;
    const { metadata } = this.repository;
    const values = new NamedParameters();
    const visible = visibleIn(metadata, scope, 'later', values);
    const recorded = recordedColumns(scopeOf(metadata), identifier).map(
      (name) => columnOf(metadata, name).databaseName,
    );
    const place = (table: string): string =>
      `(${table}."deletedAt", ROW(${recorded.map((name) => `${table}."${name}"`).join(', ')})::text)`;
    return Raw((column) => {
      // Such as "object"."deletedAt".
      const table = column.slice(0, column.lastIndexOf('.'));
      const same = `WHERE later."${identifier}" = ${table}."${identifier}"`;
      return `(SELECT true FROM ${deletionsTable(resource)} later
        ${and(same, `${place('later')} > ${place(table)}`, ...visible)} LIMIT 1) IS NULL`;
    }, values.values) as FindOperator<Date>;
  }
}
