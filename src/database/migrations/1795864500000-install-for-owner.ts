import type { QueryRunner } from 'typeorm';
import { type AppliesFunctions, applyFunctions } from '../sql-files.js';

/** What the functions create belongs to the owner of the table, also where another user calls them. */
export class InstallForOwner1795864500000 implements AppliesFunctions {
  readonly applies = {
    'deletions.sql': 'a94d0de4da44',
    'tally.sql': '4bf5467c88d1',
    'tracking.sql': 'ffb287fd320c',
    'words.sql': '1e11fadff2ce',
  };

  up(runner: QueryRunner): Promise<void> {
    return applyFunctions(runner, this);
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}
