import { Injectable } from '@nestjs/common';
import type { EntityMetadata } from 'typeorm';
import { type Statement, statement } from '../database/statement.js';

/**
 * Maximum number of prepared statements of a resource for a selection of fields. Clients choose the
 * selection, and each connection keeps every prepared statement.
 */
const MAXIMUM_SELECTIONS = 100;

/** The prepared statements of each resource, made when they are used first. */
@Injectable()
export class StatementCache {
  private readonly resources = new WeakMap<EntityMetadata, Map<string, Statement>>();

  /**
   * The statement of a resource for some use.
   *
   * @param use distinguishes it from other statements that select the same fields
   * @param fields those that it selects; default: all
   * @param text makes its text
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
    const made = statement(text(), { prepared });
    if (prepared) statements.set(name, made);
    return made;
  }
}
