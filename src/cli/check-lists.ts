import { type INestApplicationContext, Logger } from '@nestjs/common';
import { CommandError } from '../command-error.js';
import { uncachedLists } from '../verify/uncached-lists.js';
import { unscopedReads } from '../verify/unscoped-reads.js';

/**
 * Logs the filters whose lists are not cached.
 *
 * @throws CommandError for SQL that reads a resource past its scope, or that PostgreSQL refuses
 */
export async function checkLists(application: INestApplicationContext): Promise<void> {
  try {
    const unscoped = await unscopedReads(application);
    if (unscoped.length > 0) throw new CommandError(unscoped.join('; '));
    const logger = new Logger('Lists');
    for (const line of await uncachedLists(application)) logger.warn(line);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    new Logger('Lists').warn(
      `The filters of the lists could not be checked: ${(error as Error).message}`,
    );
  }
}
