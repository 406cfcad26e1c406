import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { types } from 'node:util';
import { CommandError } from '../../command-error.js';
import { type Binaries, usableBinaries } from './binaries.js';
import { errorCode } from './error-code.js';
import { type Account, clusterIn, homeOf } from './home.js';
import { createAtomically } from './create-atomically.js';

/** Name of the superuser of a cluster, and of the database of the service. */
export const CATALOGUE = 'catalogue';

/** A PostgreSQL data directory, with the account and the programs that run its server. */
export interface Cluster {
  readonly directory: string;
  readonly account: Account | undefined;
  readonly binaries: Binaries;
}

/**
 * Opens the cluster of a data directory. Creates it by `initdb` if there is none.
 *
 * @param onNotice called with one line if the data is stored outside `dataDir`
 * @throws CommandError if the cluster cannot be created, is of another PostgreSQL version, or cannot
 *   be run by this user
 */
export async function openCluster(
  dataDir: string,
  onNotice: (line: string) => void,
): Promise<Cluster> {
  try {
    const home = await homeOf(dataDir);
    const directory = clusterIn(home);
    const binaries = await usableBinaries(home);
    const cluster = { directory, account: home.account, binaries };
    await createAtomically(directory, (temporary) => initialise(temporary, cluster));
    await checkVersion(cluster);
    if (home.elsewhere) {
      onNotice(`The data is kept in ${directory}, since the server's user cannot reach ${dataDir}`);
    }
    return cluster;
  } catch (error) {
    // Messages of system errors (EACCES, ENOTDIR, ENOSPC …) contain the path.
    if (!types.isNativeError(error) || errorCode(error) === undefined) throw error;
    throw new CommandError(`The data directory ${dataDir} cannot be used: ${error.message}`);
  }
}

/** The superuser's password. The file is part of the cluster, so that both are created together. */
export async function passwordOf(directory: string): Promise<string> {
  return readFile(passwordFile(directory), 'utf8');
}

function passwordFile(directory: string): string {
  return join(directory, 'catalogue.password');
}

async function initialise(temporary: string, { account, binaries }: Cluster): Promise<string> {
  const directory = join(temporary, 'data');
  const password = join(temporary, 'password');
  await writeFile(password, randomBytes(32).toString('hex'), { mode: 0o600 });
  if (account) {
    for (const path of [temporary, password]) await chown(path, account.uid, account.gid);
  }
  await run(binaries.initdb, account, [
    `--pgdata=${directory}`,
    `--username=${CATALOGUE}`,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    // Text sorts by bytes, independent of the machine's locale.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]);
  await rename(password, passwordFile(directory));
  return directory;
}

async function run(program: string, account: Account | undefined, args: string[]): Promise<void> {
  const options = { ...account, cwd: dirname(program), env: serverEnvironment() };
  await new Promise<void>((resolve, reject) => {
    execFile(program, args, options, (error, _stdout, stderr) => {
      if (!error) resolve();
      else reject(new CommandError(`initdb failed: ${oneLine(stderr) || oneLine(error.message)}`));
    });
  });
}

/**
 * The environment of PostgreSQL's programs. Inherits only PATH: PostgreSQL reads variables such as
 * PGPORT, PGDATA and LC_ALL.
 */
export function serverEnvironment(): NodeJS.ProcessEnv {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

export function oneLine(text: string): string {
  return text
    .trim()
    .split(/\s*\n\s*/)
    .join('; ');
}

async function checkVersion({ directory, binaries }: Cluster): Promise<void> {
  let version: string;
  try {
    version = (await readFile(join(directory, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (errorCode(error) !== 'ENOENT') throw error;
    throw new CommandError(`${directory} is not a PostgreSQL data directory: move it away`);
  }
  if (version !== binaries.major) {
    throw new CommandError(
      `${directory} was made by PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}: ` +
        'export the data with the release that made it, move it away and import them, or set DATABASE_URL ' +
        `to a server of PostgreSQL ${version} that has the data`,
    );
  }
}
