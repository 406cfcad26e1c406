import type { QueryRunner } from 'typeorm';
import { type AppliesFunctions, applyFunctions } from '../sql-files.js';

/** What the functions create belongs to the owner of the table, also where another user calls them. */
export class InstallForOwner1795864500000 implements AppliesFunctions {
  readonly applies = {
    'deletions.sql': '0032cc881e59',
    'tally.sql': 'c93a116ea9c7',
    'tracking.sql': 'd6e5fdac7d4f',
    'words.sql': '42f55cfb3f1e',
  };

  up(runner: QueryRunner): Promise<void> {
    return applyFunctions(runner, this);
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}
