import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { EntityMetadata } from 'typeorm';
import { type Statement, statement } from '../../database/statement.js';

/**
 * Maximum number of prepared statements of a resource. A further selection of fields is not prepared:
 * clients choose the selection, and each connection keeps every prepared statement.
 */
const MAXIMUM_SELECTIONS = 100;
/** Maximum number of statements of a resource that are prepared since they were asked for this often. */
const MAXIMUM_FREQUENT = 50;
const FREQUENT = 5;
/** Of so many other statements it is known how often they were asked for. */
const MAXIMUM_COUNTED = 1000;

/** The prepared statements of each resource. They are built on first use. */
@Injectable()
export class StatementCache {
  private readonly resources = new WeakMap<EntityMetadata, Map<string, Statement>>();
  private readonly frequent = new WeakMap<EntityMetadata, Frequent>();

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

  /**
   * A statement of a resource that one plan is enough for: prepared, if it is one of the frequent ones;
   * `undefined` if it is not, and no more of them are prepared.
   */
  ofOnePlan(metadata: EntityMetadata, statement: Statement): Statement | undefined {
    if (statement.prepared) return statement;
    let frequent = this.frequent.get(metadata);
    if (!frequent) this.frequent.set(metadata, (frequent = new Frequent()));
    if (frequent.countUse(statement.digest)) return { ...statement, prepared: true };
    return frequent.isFull ? undefined : statement;
  }
}

/** The first texts that were asked for some times. */
class Frequent {
  private readonly texts = new Set<string>();
  private readonly counted = new LRUCache<string, number>({ max: MAXIMUM_COUNTED });

  get isFull(): boolean {
    return this.texts.size >= MAXIMUM_FREQUENT;
  }

  /** Counts that a text is asked for. Returns whether it is one of them. */
  countUse(digest: string): boolean {
    if (this.texts.has(digest)) return true;
    if (this.isFull) return false;
    const count = (this.counted.get(digest) ?? 0) + 1;
    this.counted.set(digest, count);
    if (count < FREQUENT) return false;
    this.counted.delete(digest);
    this.texts.add(digest);
    return true;
  }
}
