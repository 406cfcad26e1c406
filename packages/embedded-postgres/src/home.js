import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { EmbeddedPostgresError, unlessMissing } from './errors.js';

/**
 * The user id and group id that run the server.
 *
 * @typedef {{ uid: number; gid: number }} Account
 */

/**
 * Where an embedded server stores its data: elsewhere than in the data directory if its account cannot reach that. The
 * account is this user, or another one for root, since PostgreSQL does not run as root.
 *
 * @typedef {{ directory: string; account: Account | undefined; elsewhere: boolean }} Home
 */

/** Root runs the server as the first of these accounts that /etc/passwd contains. */
const ACCOUNTS = ['postgres', 'node', 'nobody'];

/** Where root stores the data if the account cannot reach the data directory, as in root's home. */
const ELSEWHERE = '/var/lib/embedded-postgres';

/** The folder of the cluster in `Home.directory`. */
export const CLUSTER = 'postgres';

/**
 * Creates the data directory, and finds its home, which is the same every time.
 *
 * @param {string} dataDir
 * @returns {Promise<Home>}
 * @throws EmbeddedPostgresError if this user cannot run a server on the directory
 */
export async function homeOf(dataDir) {
  await mkdir(dataDir, { recursive: true });
  // Resolves symbolic links, so that a directory has one name.
  const directory = await realpath(dataDir);
  return process.getuid?.() === 0 ? rootsHome(directory) : ownHome(directory);
}

/** @param {string} directory */
async function ownHome(directory) {
  const cluster = join(directory, CLUSTER);
  const owner = await unlessMissing(stat(cluster));
  if (owner && owner.uid !== process.getuid?.()) {
    throw new EmbeddedPostgresError(
      `${cluster} belongs to another user: run as that user, or use a directory of your own`,
    );
  }
  return { directory, account: undefined, elsewhere: false };
}

/** @param {string} directory */
async function rootsHome(directory) {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  const elsewhere = join(ELSEWHERE, `${basename(dirname(directory))}-${name}`);
  for (const candidate of [directory, elsewhere]) {
    const cluster = join(candidate, CLUSTER);
    const owner = await unlessMissing(stat(cluster));
    if (owner?.uid === 0) {
      throw new EmbeddedPostgresError(
        `${cluster} belongs to root, and PostgreSQL does not run as root: change its owner ` +
          '(chown -R), or move it away',
      );
    }
    if (owner) {
      const account = { uid: owner.uid, gid: owner.gid };
      return { directory: candidate, account, elsewhere: candidate === elsewhere };
    }
  }
  const account = await serverAccount();
  if (await canReach(directory, account)) return { directory, account, elsewhere: false };
  await mkdir(elsewhere, { recursive: true });
  // Independent of root's umask.
  for (const folder of [ELSEWHERE, elsewhere]) await chmod(folder, 0o755);
  return { directory: elsewhere, account, elsewhere: true };
}

/**
 * Whether the account has execute permission on `path` and every directory above it.
 *
 * @param {string} path
 * @param {Account} account
 */
export async function canReach(path, account) {
  for (let step = await realpath(path); ; step = dirname(step)) {
    const { mode, uid, gid } = await stat(step);
    const execute = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & execute) === 0) return false;
    if (step === dirname(step)) return true;
  }
}

async function serverAccount() {
  const passwd = await readFile('/etc/passwd', 'utf8').catch(() => '');
  const users = passwd.split('\n').map((line) => line.split(':'));
  for (const name of ACCOUNTS) {
    const [, , uid, gid] = users.find(([user]) => user === name) ?? [];
    if (Number(uid) > 0) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL refuses to run as root, and /etc/passwd has none of ${ACCOUNTS.join(', ')}: ` +
      'run as an ordinary user',
  );
}
