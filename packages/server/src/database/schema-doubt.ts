import { Injectable } from '@nestjs/common';
import { Coalesced } from './coalesced.js';
import { isSchemaFailure } from './database-failure.js';

/**
 * Tells failures during a change of the schema, such as a restore under the running service, from faults of
 * the service: the errors of PostgreSQL are the same.
 */
@Injectable()
export class SchemaDoubt {
  /**
   * True from a failure that showed every resource to be incomplete, as while a restore has created tables
   * without rows, until a check finds one that is complete.
   */
  isOpen = false;
  /** Whether the schema is not whole, or was created again since it was last called. Must not reject. */
  check: () => Promise<boolean> = () => Promise.resolve(false);
  private readonly checks = new Coalesced(() => this.check());

  /** Whether a query failed because of a change of the schema. */
  async explains(thrown: unknown): Promise<boolean> {
    if (!isSchemaFailure(thrown)) return false;
    return this.isOpen || this.checks.result();
  }
}
