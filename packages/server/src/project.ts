import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { MigrationInterface } from 'typeorm';
import { CommandError } from './command-error.js';

/** What the service is given: the resources of a catalogue, and their tables. */
export interface Project {
  /** The module that imports those of the resources. */
  readonly module: Type;
  /** The folder of the built project. `migrations` in it has the migrations, `../demo` the demonstration. */
  readonly folder: string;
  /** Called with the application that serves, before it is initialised, such as for `app.use`. */
  readonly configure?: (application: NestExpressApplication) => void | Promise<void>;
}

export type MigrationClass = new () => MigrationInterface;

/**
 * The migrations in the folder of a built project, in the order of the names of their files, which begin with a timestamp.
 *
 * @throws CommandError if there is no such folder, or if a file cannot be loaded
 */
export async function migrationsOf({ folder }: Pick<Project, 'folder'>): Promise<MigrationClass[]> {
  const path = join(folder, 'migrations');
  if (!existsSync(folder)) throw new CommandError(`There is no folder ${folder} of a project`);
  const names = await namesIn(path);
  const files = names.filter((name) => /^\d+-.*(?<!\.d)\.[jt]s$/.test(name)).sort();
  const modules = await Promise.all(
    files.map((file) =>
      import(pathToFileURL(join(path, file)).href).catch((error: unknown) => {
        throw new CommandError(`${join(path, file)} cannot be loaded: ${(error as Error).message}`);
      }),
    ),
  );
  return modules
    .flatMap((module) => Object.values(module as Record<string, unknown>))
    .filter(
      (exported): exported is MigrationClass =>
        typeof exported === 'function' &&
        'up' in ((exported.prototype as object | undefined) ?? {}),
    );
}

/** The names in a folder of a project; none if there is no such folder. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
}
