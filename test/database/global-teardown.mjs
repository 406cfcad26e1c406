import { rm } from 'node:fs/promises';
import pg from 'pg';

/** Removes the databases of this run, and the embedded server. */
export default async function globalTeardown() {
  await removeDatabases();
  await rm(globalThis.databaseSources, { recursive: true, force: true });
}

async function removeDatabases() {
  const embedded = globalThis.embeddedTestServer;
  if (embedded) {
    await embedded.server.release();
    await rm(embedded.directory, { recursive: true, force: true });
    return;
  }
  const template = process.env.TEST_TEMPLATE_DATABASE;
  const run = template.replace('catalogue_test_template_', '');
  const client = new pg.Client(process.env.TEST_SERVER_URL);
  await client.connect();
  const { rows } = await client.query(
    'SELECT datname FROM pg_database WHERE datname = $1 OR starts_with(datname, $2)',
    [template, `catalogue_test_${run}_`],
  );
  for (const { datname } of rows) {
    await client.query(`DROP DATABASE IF EXISTS ${datname} WITH (FORCE)`);
  }
  await client.end();
}
