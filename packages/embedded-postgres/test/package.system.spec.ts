import { execFile } from 'node:child_process';
import { chmod, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from '@jest/globals';

const run = promisify(execFile);
const PACKAGE = fileURLToPath(new URL('..', import.meta.url));
const ROOT = join(PACKAGE, '../..');

/** A project into which the package was installed. Other packages are found in the folder above. */
let consumer: string;
let scratch: string;

beforeAll(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'embedded-postgres-package-'));
  // For root, the server runs as another user, which needs access.
  await chmod(scratch, 0o755);
  consumer = await mkdtemp(join(scratch, 'consumer-'));
  await chmod(consumer, 0o755);
  await symlink(join(ROOT, 'node_modules'), join(scratch, 'node_modules'));
  const { stdout: packed } = await run('npm', ['pack', '--pack-destination', scratch], {
    cwd: PACKAGE,
  });
  await writeFile(join(consumer, 'package.json'), '{ "private": true, "type": "module" }');
  const flags = ['--offline', '--omit=optional', '--no-audit', '--no-fund', '--no-package-lock'];
  const tarball = join(scratch, packed.trim());
  await run('npm', ['install', ...flags, tarball], { cwd: consumer });
});
afterAll(() => rm(scratch, { recursive: true }));

it('The package has its sources and documents, and depends on the programs alone', async () => {
  const installed = join(consumer, 'node_modules/embedded-postgres-server');
  const files = await readdir(installed, { recursive: true });
  expect(files.filter((name) => !name.startsWith('src')).sort()).toEqual([
    ...['LICENSE', 'README.md', 'index.d.ts', 'index.js', 'package.json'],
  ]);
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as Manifest;
  expect(manifest.dependencies).toBeUndefined();
});

it('Nothing in it knows of what uses it', async () => {
  const files = (await readdir(join(PACKAGE, 'src'))).map((name) => join('src', name));
  for (const file of [...files, 'index.js', 'index.d.ts', 'README.md', 'package.json']) {
    expect(await readFile(join(PACKAGE, file), 'utf8')).not.toMatch(
      /catalogue|DATABASE_URL|DATA_DIR/i,
    );
  }
});

it('The example of the README compiles and runs', async () => {
  const readme = await readFile(join(PACKAGE, 'README.md'), 'utf8');
  const [, example = ''] = /^```js\n(.*?)^```$/ms.exec(readme) ?? [];
  const [, output] = /^```text\n(.*?)^```$/ms.exec(readme) ?? [];
  await writeFile(join(consumer, 'example.ts'), example);
  const options = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', 'node'];
  await run(process.execPath, [TSC, ...options, '--outDir', '.', 'example.ts'], { cwd: consumer });
  const { stdout } = await run(process.execPath, ['example.js'], { cwd: consumer });
  expect(stdout).toBe(output);
});

const TSC = join(ROOT, 'node_modules/typescript/bin/tsc');

interface Manifest {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}
