import { randomBytes, randomInt } from 'node:crypto';
import { chmod, copyFile, mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import pg from 'pg';
import { embeddedServer } from '../../packages/embedded-postgres/index.js';
import { transpile } from '../../transpile.mjs';
import { createStandIns } from './stand-ins.mjs';

/** The build of the package in the folder of the transpiled sources, where it is found by its name. */
const SERVER = 'node_modules/@catalogue/server/dist';

/**
 * Provides one server for the whole run, TEST_DATABASE_URL or an embedded one, and a migrated template
 * database, which is copied for each test.
 */
export default async function globalSetup() {
  process.env.TEST_SEED ??= String(randomInt(1_000_000));
  const seed = Number(process.env.TEST_SEED);
  // fast-check takes 32 bits of a seed.
  if (seed !== (seed | 0)) throw new Error('TEST_SEED must be an integer of 32 bits');
  console.info(`Randomised tests repeat with TEST_SEED=${seed}`);

  const sources = await sourcesOfDatabase();
  process.env.TEST_SERVER_URL = process.env.TEST_DATABASE_URL ?? (await embedded(sources));
  // The pid helps a reader. The random part is needed since pids repeat in containers.
  const run = `${process.pid}_${randomBytes(3).toString('hex')}`;
  const template = `catalogue_test_template_${run}`;
  process.env.TEST_TEMPLATE_DATABASE = template;

  const client = new pg.Client(process.env.TEST_SERVER_URL);
  await client.connect();
  await client.query(`CREATE DATABASE ${template} TEMPLATE template0`);
  await client.end();

  const url = new URL(process.env.TEST_SERVER_URL);
  url.pathname = `/${template}`;
  const load = (path) => import(pathToFileURL(join(sources, SERVER, path)).href);
  const { AppModule } = await import(pathToFileURL(join(sources, 'src/app.module.js')).href);
  const project = { module: AppModule, folder: join(sources, 'src') };
  const { migrateProject } = await load('testing/database.js');
  await migrateProject(project, url.href, (dataSource) => createStandIns(load, dataSource));
}

/** A folder with what migrates a database, made from the sources, since the build may be older. */
async function sourcesOfDatabase() {
  // In node_modules, where imports of packages are found.
  const cache = resolve('node_modules/.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'catalogue-test-'));
  globalThis.databaseSources = folder;
  await transpile('src', join(folder, 'src'));
  await transpile('packages/server/src', join(folder, SERVER));
  for (const manifest of ['package.json', 'packages/server/package.json'])
    await copyFile(manifest, join(folder, manifest.replace('packages', 'node_modules/@catalogue')));
  return folder;
}

async function embedded(sources) {
  const { FAST } = await import(pathToFileURL(join(sources, SERVER, 'testing/database.js')).href);
  const { serverSettings } = await import(
    pathToFileURL(join(sources, SERVER, 'database/server-settings.js')).href
  );
  const directory = await mkdtemp(join(tmpdir(), 'catalogue-test-'));
  // If this process is root, the server runs as another user, who must reach the folder.
  await chmod(directory, 0o755);
  globalThis.embeddedTestServer = {
    directory,
    server: await embeddedServer(directory, { settings: { ...serverSettings(), ...FAST } }),
  };
  return globalThis.embeddedTestServer.server.url;
}
