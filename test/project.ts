import { resolve } from 'node:path';
import { migrationsOf, type Project } from '#server/project.js';
import { AppModule } from '../src/app.module.js';

/** The catalogue of this repository. */
export const PROJECT: Project = { module: AppModule, folder: resolve('src') };

export const MIGRATIONS = await migrationsOf(PROJECT);
