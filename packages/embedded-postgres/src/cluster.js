import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, readFile, rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { usableBinaries } from './binaries.js';
import { createAtomically } from './create-atomically.js';
import { EmbeddedPostgresError, errorCode, messageOf, oneLine, unlessMissing } from './errors.js';
import { CLUSTER, homeOf } from './home.js';

/** @import { Account } from './home.js' */

/**
 * A PostgreSQL data directory, with the account and the programs that run its server.
 *
 * @typedef {object} Cluster
 * @property {string} directory
 * @property {string} name of its superuser and of their database
 * @property {Account | undefined} account
 * @property {Awaited<ReturnType<typeof usableBinaries>>} binaries
 */

/**
 * Opens the cluster of a data directory. Creates it by `initdb` if there is none.
 *
 * @param {string} dataDir
 * @param {string} name
 * @param {(line: string) => void} onNotice called with one line if the data is stored outside `dataDir`
 * @returns {Promise<Cluster>}
 * @throws EmbeddedPostgresError if this user cannot create or run it, or it is of another PostgreSQL version
 */
export async function openCluster(dataDir, name, onNotice) {
  try {
    const home = await homeOf(dataDir);
    const directory = join(home.directory, CLUSTER);
    const binaries = await usableBinaries(home);
    const cluster = { directory, name, account: home.account, binaries };
    await createAtomically(directory, (temporary) => initialise(temporary, cluster));
    await checkVersion(cluster);
    if (home.elsewhere) {
      onNotice(`The data is kept in ${directory}, since the server's user cannot reach ${dataDir}`);
    }
    return cluster;
  } catch (error) {
    // Messages of system errors (EACCES, ENOTDIR, ENOSPC …) contain the path.
    if (errorCode(error) === undefined) throw error;
    throw new EmbeddedPostgresError(
      `The data directory ${dataDir} cannot be used: ${messageOf(error)}`,
    );
  }
}

/**
 * The superuser's password. The file is part of the cluster, so that both are created together.
 *
 * @param {Cluster} cluster
 */
export async function passwordOf({ directory, name }) {
  return readFile(join(directory, `${name}.password`), 'utf8');
}

/**
 * @param {string} temporary
 * @param {Cluster} cluster
 */
async function initialise(temporary, { name, account, binaries }) {
  const directory = join(temporary, 'data');
  const password = join(temporary, 'password');
  await writeFile(password, randomBytes(32).toString('hex'), { mode: 0o600 });
  if (account) {
    for (const path of [temporary, password]) await chown(path, account.uid, account.gid);
  }
  await run(binaries.initdb, account, '', [
    `--pgdata=${directory}`,
    `--username=${name}`,
    `--pwfile=${password}`,
    '--auth=scram-sha-256',
    // Text sorts by bytes, independent of the machine's locale.
    '--encoding=UTF8',
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ]);
  if (name !== 'postgres') {
    const statement = `CREATE DATABASE "${name}"`;
    await run(binaries.postgres, account, statement, ['--single', '-D', directory, 'postgres']);
  }
  await rename(password, join(directory, `${name}.password`));
  return directory;
}

/**
 * @param {string} program
 * @param {Account | undefined} account
 * @param {string} input
 * @param {string[]} args
 */
async function run(program, account, input, args) {
  const options = { ...account, cwd: dirname(program), env: serverEnvironment() };
  const running = promisify(execFile)(program, args, options);
  running.child.stdin?.end(input);
  await running.catch((/** @type {unknown} */ error) => {
    const { message, stderr } = /** @type {Error & { stderr: string }} */ (error);
    const reason = oneLine(stderr) || oneLine(message);
    const [, uid] = /could not look up effective user ID (\d+)/.exec(reason) ?? [];
    if (uid !== undefined) {
      // The server itself does without.
      throw new EmbeddedPostgresError(
        `initdb needs an entry of the user ${uid} in /etc/passwd. Add one as root: ` +
          `echo 'user:x:${uid}:${process.getgid?.() ?? uid}::/:/bin/false' >> /etc/passwd`,
      );
    }
    throw new EmbeddedPostgresError(`${basename(program)} failed: ${reason}`);
  });
}

/** Inherits only PATH: PostgreSQL reads variables such as PGPORT, PGDATA and LC_ALL. */
export function serverEnvironment() {
  return { PATH: process.env.PATH, LC_ALL: 'C', TZ: 'UTC' };
}

/** @param {Cluster} cluster */
async function checkVersion({ directory, binaries }) {
  const version = (await unlessMissing(readFile(join(directory, 'PG_VERSION'), 'utf8')))?.trim();
  if (version === undefined) {
    throw new EmbeddedPostgresError(
      `${directory} is not a PostgreSQL data directory: move it away`,
    );
  }
  if (version !== binaries.major) {
    throw new EmbeddedPostgresError(
      `${directory} was made by PostgreSQL ${version}, and this is PostgreSQL ${binaries.major}: ` +
        'export the data with the release that made it, move it away and import them',
    );
  }
}
