import { Injectable } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { type Statement, statement } from '../database/statement.js';

/**
 * Maximum number of prepared statements of a resource. A further selection of fields is not prepared:
 * clients choose the selection, and each connection keeps every prepared statement.
 */
const MAXIMUM_SELECTIONS = 100;

/** The prepared statements of each resource. They are built on first use. */
@Injectable()
export class StatementCache {
  private readonly resources = new WeakMap<EntityMetadata, Map<string, Statement>>();

  /**
   * Returns a statement of a resource.
   *
   * @param use distinguishes statements that select the same fields
   * @param fields the selected fields; default: all
   * @param text builds the SQL
   */
  get(
    metadata: EntityMetadata,
    use: string,
    fields: readonly string[] | undefined,
    text: () => string,
  ): Statement {
    let statements = this.resources.get(metadata);
    if (!statements) this.resources.set(metadata, (statements = new Map<string, Statement>()));
    const name = `${use}: ${fields?.join() ?? ''}`;
    const cached = statements.get(name);
    if (cached) return cached;
    const prepared = !fields || statements.size < MAXIMUM_SELECTIONS;
    const created = statement(text(), { prepared });
    if (prepared) statements.set(name, created);
    return created;
  }
}
