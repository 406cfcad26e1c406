import { Injectable } from '@nestjs/common';
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
  /**
   * Checks the schema. Resolves to true if it is not whole, or was created anew since the last check. Must not
   * reject. Replaced by the schema check.
   */
  check: () => Promise<boolean> = () => Promise.resolve(false);
  private current: Promise<boolean> | undefined;
  private next: Promise<boolean> | undefined;

  /** Whether a query failed because of a change of the schema. */
  async explains(thrown: unknown): Promise<boolean> {
    if (!isSchemaFailure(thrown)) return false;
    return this.isOpen || this.checked();
  }

  /** The result of a check that begins after the call. Concurrent callers share it. */
  private checked(): Promise<boolean> {
    if (!this.current) return this.begin();
    this.next ??= this.current.then(() => {
      this.next = undefined;
      return this.begin();
    });
    return this.next;
  }

  private begin(): Promise<boolean> {
    this.current = this.check().finally(() => {
      this.current = undefined;
    });
    return this.current;
  }
}
