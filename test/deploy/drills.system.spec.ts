import { afterEach, beforeEach, expect } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createDatabase, queryOn, type TestDatabase } from '#server/testing/database.js';
import { withTool } from '../tools.js';

// By a shell, which has an output also where there is no such program.
const { stdout: binaries } = spawnSync('sh', ['-c', 'pg_config --bindir'], { encoding: 'utf8' });

const { it } = withTool({
  name: 'postgresql',
  isThere: existsSync(join(binaries.trim(), 'initdb')),
  install: 'apt-get install postgresql',
});

let operators: TestDatabase;

beforeEach(async () => {
  operators = await createDatabase({ migrated: false });
});
afterEach(() => operators.drop());

it('A drill leaves the database alone that the environment names', async () => {
  const { hostname, port, username } = new URL(operators.url);
  const { status, stdout, stderr } = spawnSync('deploy/drills.sh', ['passwords'], {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: operators.url,
      DATABASE_REPLICA_URLS: operators.url,
      REDIS_URL: 'redis://127.0.0.1:1',
      PGHOST: hostname,
      PGPORT: port,
      PGUSER: username,
      PGPASSFILE: '/dev/null',
      HOST: '192.0.2.1',
      PORT: '1',
      ADMIN_PORT: '2',
    },
    encoding: 'utf8',
  });
  const rows = await queryOn(
    operators.url,
    `SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'`,
  );
  expect(rows).toEqual([]);
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(stdout).toMatch(/^ok {6}the password changed under the running service/m);
});
