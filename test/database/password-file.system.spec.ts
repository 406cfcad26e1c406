import { expect, it } from '@jest/globals';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { catalogue } from '../cli/catalogue.js';
import { createDatabase } from '#server/testing/database.js';

it('The password of a URL without one is found in the file of PGPASSFILE, without a word', async () => {
  const database = await createDatabase();
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-password-'));
  try {
    const file = join(folder, 'pgpass');
    const url = new URL(database.url);
    await writeFile(file, `*:*:*:${url.username}:${decodeURIComponent(url.password)}\n`);
    await chmod(file, 0o600);
    url.password = '';
    const found = await catalogue(['client', 'create', 'acme'], {
      DATABASE_URL: url.href,
      PGPASSFILE: file,
    });
    expect(found).toEqual({ status: 0, stdout: 'acme\n', stderr: '' });
    const lost = await catalogue(['client', 'list'], {
      DATABASE_URL: url.href,
      PGPASSFILE: join(folder, 'none'),
    });
    const message = 'The database asks for a password: neither its URL nor PGPASSFILE has one';
    expect(lost).toEqual({ status: 1, stdout: '', stderr: `catalogue: ${message}\n` });
  } finally {
    await rm(folder, { recursive: true });
    await database.drop();
  }
});
