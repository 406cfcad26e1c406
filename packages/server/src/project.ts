import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Type } from '@nestjs/common';
import type { NestExpressApplication } from '@nestjs/platform-express';
import type { MigrationInterface } from 'typeorm';

/** What the service is given: the resources of a catalogue, and their tables. */
export interface Project {
  /** The module that imports those of the resources. */
  readonly module: Type;
  /** The folder of the built project. `migrations` in it has the migrations, `../demo` the demonstration. */
  readonly folder: string;
  /** Called with the application that serves, before it is initialised, such as for `app.use`. */
  readonly configure?: (application: NestExpressApplication) => void;
}

export type MigrationClass = new () => MigrationInterface;

/** The migrations in the folder of a built project, in the order of the names of their files, which begin with a timestamp. */
export async function migrationsOf({ folder }: Pick<Project, 'folder'>): Promise<MigrationClass[]> {
  const path = join(folder, 'migrations');
  const names = await readdir(path).catch((error: unknown) => {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  });
  const files = names.filter((name) => /^\d+-.*(?<!\.d)\.[jt]s$/.test(name)).sort();
  const modules = await Promise.all(
    files.map((file) => import(pathToFileURL(join(path, file)).href)),
  );
  return modules
    .flatMap((module) => Object.values(module as Record<string, unknown>))
    .filter((exported): exported is MigrationClass => typeof exported === 'function');
}
