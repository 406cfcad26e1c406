import type { MigrationInterface } from 'typeorm';

/** Marks a database whose baseline is known: see `known-baseline.ts`, which is asked before any migration runs. */
export class KnownBaseline1764676800001 implements MigrationInterface {
  up(): Promise<void> {
    return Promise.resolve();
  }

  down(): Promise<void> {
    return Promise.resolve();
  }
}
