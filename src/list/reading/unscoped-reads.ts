import { Injectable } from '@nestjs/common';
import type { DataSource, EntityMetadata } from 'typeorm';
import { ParameterValues } from '../../database/statement.js';
import { nameOf, resourcesOf, tableOf } from '../../resource/resource.js';
import { scopeOf } from '../../resource/scope.js';
import { selectedComputed, valueOf } from '../../resource/selection.js';
import { arePlain, columnsIn, withoutQueries } from '../condition/condition.js';
import { whereOf } from '../condition/print.js';
import { changesTable } from '../../resource/changes-table.js';
import { deletionsTable } from '../deletions/deletion.js';
import { Dependencies, type SelectQuery } from './dependencies.js';
import type { Listing } from '../listing/listing.js';
import { tallyOrders } from '../../tally/tally.js';
import { itemTallies, wordTallies } from '../../tally/word-tally.js';

/** SQL of a computed field or of a condition that reads a resource past its scope. */
export class UnscopedReadError extends TypeError {}

/**
 * Refuses SQL that reads a resource with a scope, which the service cannot restrict to what a client sees. A
 * scope itself may read anything. What a function reads that PostgreSQL does not inline is not found.
 */
@Injectable()
export class UnscopedReads {
  private tables?: readonly string[];

  constructor(private readonly dependencies: Dependencies) {}

  /** @throws UnscopedReadError for a computed field that is shown, also of related objects */
  async checkFields(metadata: EntityMetadata, names: readonly string[] | undefined): Promise<void> {
    for (const [shown, column] of selectedComputed(metadata, names)) {
      const text = `SELECT ${valueOf(column, 'object')} FROM ${anyRow(shown)}`;
      await this.check(shown, `the field ${column.propertyName}`, { text, values: [] });
    }
  }

  /**
   * @param list before `seenBy`, after which its filters have SQL of the service
   * @param name of the filter, if only one is given
   * @throws UnscopedReadError for a filter of a list that is neither a comparison nor an identifier query
   */
  async checkFilters(list: Listing, name?: string): Promise<void> {
    const { repository, filters } = list;
    const { metadata } = repository;
    if (this.scopedTables(metadata.dataSource).length === 0) return;
    for (const condition of withoutQueries(filters)) {
      if (arePlain(metadata, [condition])) continue;
      const columns = new Set(columnsIn([condition]));
      const values = new ParameterValues();
      const where = whereOf([condition], { metadata, values });
      await this.check(
        metadata,
        name === undefined ? `a filter by ${[...columns].join(' or ')}` : `the filter ${name}`,
        { text: `SELECT FROM ${anyRow(metadata)} ${where}`, values: values.values },
      );
    }
  }

  private async check(metadata: EntityMetadata, what: string, query: SelectQuery): Promise<void> {
    const tables = this.scopedTables(metadata.dataSource);
    if (tables.length === 0) return;
    const read = await this.dependencies.findTables(tables, query);
    if (read.length === 0) return;
    throw new UnscopedReadError(
      `${what} of ${nameOf(metadata)} reads ${read.join(', ')} by SQL, past its scope`,
    );
  }

  /** The tables with objects that not every client sees, and those that tell of them. Each request asks for them. */
  private scopedTables(dataSource: DataSource): readonly string[] {
    return (this.tables ??= [...resourcesOf(dataSource).values()]
      .filter(scopeOf)
      .flatMap((metadata) => [
        tableOf(metadata),
        deletionsTable(nameOf(metadata)),
        changesTable(nameOf(metadata)),
        ...[...tallyOrders(metadata), ...wordTallies(metadata), ...itemTallies(metadata)].flatMap(
          ({ tally, deltas }) => [tally, deltas],
        ),
        ...wordTallies(metadata).map(({ words }) => words),
      ]));
  }
}

/** A row of a resource's table, of which a statement does not read the table. */
function anyRow(metadata: EntityMetadata): string {
  return `jsonb_populate_record(NULL::${tableOf(metadata)}, '{}') object`;
}
