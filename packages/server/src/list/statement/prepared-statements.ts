import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { EntityMetadata } from 'typeorm';
import { type Statement, statement } from '../../database/statement.js';

/**
 * Whether connections prepare a statement. `if frequent`: clients choose what its text depends on, so that there may be
 * many variants.
 */
export type Preparing = 'always' | 'if frequent' | 'never';

/** Maximum number of frequent statements of a resource. Each connection keeps every prepared statement. */
const MAXIMUM_FREQUENT = 100;
/** After so many requests a statement is frequent. */
const FREQUENT = 5;
/** Of so many other statements it is known how often they were asked for. */
const MAXIMUM_OTHERS = 1000;

/** The statements of one resource. */
class OfResource {
  /** By text, which is compared faster than its digest is made. */
  private readonly prepared = new Map<string, Statement>();
  private readonly requests = new LRUCache<string, number>({ max: MAXIMUM_OTHERS });
  private frequent = 0;

  get isFull(): boolean {
    return this.frequent >= MAXIMUM_FREQUENT;
  }

  of(text: string, prepare: Preparing): Statement {
    const known = this.prepared.get(text);
    if (known) return known;
    const made = statement(text, {
      prepared: prepare === 'always' || this.isFrequent(text, prepare),
    });
    if (made.prepared) this.prepared.set(text, made);
    return made;
  }

  /** Counts a request. Returns whether the statement becomes one of the frequent ones: the first that are. */
  private isFrequent(text: string, prepare: Preparing): boolean {
    if (prepare === 'never' || this.isFull) return false;
    const count = (this.requests.get(text) ?? 0) + 1;
    this.requests.set(text, count);
    if (count < FREQUENT) return false;
    this.requests.delete(text);
    this.frequent += 1;
    return true;
  }
}

/** Decides which statements connections prepare. */
@Injectable()
export class PreparedStatements {
  private readonly resources = new WeakMap<EntityMetadata, OfResource>();

  /** The statement on a resource with a text. */
  of(metadata: EntityMetadata, text: string, prepare: Preparing): Statement {
    return this.ofResource(metadata).of(text, prepare);
  }

  /** Whether no further statement on a resource becomes a frequent one. */
  isFull(metadata: EntityMetadata): boolean {
    return this.ofResource(metadata).isFull;
  }

  private ofResource(metadata: EntityMetadata): OfResource {
    let statements = this.resources.get(metadata);
    if (!statements) this.resources.set(metadata, (statements = new OfResource()));
    return statements;
  }
}
