import { driverErrorOf } from '#server/database/database-failure.js';

/**
 * Repeats a change of the schema beside a running service until no deadlock prevents it, as
 * `catalogue migrate` does: the change locks several tables, and a statement of the service may have
 * locked some of them in another order.
 */
export async function despiteDeadlocks<Result>(change: () => Promise<Result>): Promise<Result> {
  for (;;) {
    try {
      return await change();
    } catch (error) {
      // https://www.postgresql.org/docs/current/errcodes-appendix.html: deadlock_detected
      if (driverErrorOf(error).code !== '40P01') throw error;
    }
  }
}
