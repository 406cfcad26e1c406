import { createHash } from 'node:crypto';
import { chmod, mkdir, readFile, realpath, stat } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { CommandError } from '../../command-error.js';
import { errorCode } from './error-code.js';

/** The user id and group id that run the server. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

/** Where an embedded server stores its data, and which account runs it. */
export interface Home {
  readonly directory: string;
  /** Set if this process is root, since PostgreSQL does not run as root. Undefined: this user. */
  readonly account: Account | undefined;
  /** Whether `directory` is not the data directory, because the account cannot reach that. */
  readonly elsewhere: boolean;
}

/** Root runs the server as the first of these accounts that /etc/passwd contains. */
const ACCOUNTS = ['postgres', 'node', 'nobody'];

/** Where root stores the data if the account cannot reach the data directory, as in root's home. */
const ELSEWHERE = '/var/lib/catalogue';

/** Name of the cluster's directory inside its home. */
const CLUSTER = 'postgres';

/**
 * Creates the data directory, and determines where its server stores data and which account runs it.
 * The result is the same every time.
 *
 * @throws CommandError if this user cannot run a server on the directory
 */
export async function homeOf(dataDir: string): Promise<Home> {
  await mkdir(dataDir, { recursive: true });
  // Resolves symbolic links, so that a directory has one name.
  const directory = await realpath(dataDir);
  return process.getuid?.() === 0 ? rootsHome(directory) : ownHome(directory);
}

export function clusterIn(home: Home): string {
  return join(home.directory, CLUSTER);
}

async function ownHome(directory: string): Promise<Home> {
  let own: Account;
  try {
    own = userInfo();
  } catch {
    throw new CommandError(
      `PostgreSQL cannot run as the user ${process.getuid?.() ?? ''}, who is not in /etc/passwd: ` +
        'add an entry, run as another user, or set DATABASE_URL',
    );
  }
  const cluster = join(directory, CLUSTER);
  const owner = await ownerOf(cluster);
  if (owner && owner.uid !== own.uid) {
    throw new CommandError(
      `${cluster} belongs to ${await nameOf(owner)}: ` +
        'run as that user, or set DATA_DIR to a directory of your own',
    );
  }
  return { directory, account: undefined, elsewhere: false };
}

async function rootsHome(directory: string): Promise<Home> {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 12);
  const elsewhere = join(ELSEWHERE, `${basename(dirname(directory))}-${name}`);
  for (const candidate of [directory, elsewhere]) {
    const cluster = join(candidate, CLUSTER);
    const owner = await ownerOf(cluster);
    if (owner?.uid === 0) {
      throw new CommandError(
        `${cluster} belongs to root, and PostgreSQL does not run as root: change its owner ` +
          '(chown -R), or move it away',
      );
    }
    if (owner) {
      return { directory: candidate, account: owner, elsewhere: candidate === elsewhere };
    }
  }
  const account = await serviceAccount();
  if (await canReach(directory, account)) return { directory, account, elsewhere: false };
  await mkdir(elsewhere, { recursive: true });
  // Independent of root's umask.
  for (const folder of [ELSEWHERE, elsewhere]) await chmod(folder, 0o755);
  return { directory: elsewhere, account, elsewhere: true };
}

async function ownerOf(path: string): Promise<Account | undefined> {
  try {
    const { uid, gid } = await stat(path);
    return { uid, gid };
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whether the account has execute permission on `path` and every directory above it. */
export async function canReach(path: string, account: Account): Promise<boolean> {
  for (let step = await realpath(path); ; step = dirname(step)) {
    const { mode, uid, gid } = await stat(step);
    const execute = uid === account.uid ? 0o100 : gid === account.gid ? 0o010 : 0o001;
    if ((mode & execute) === 0) return false;
    if (step === dirname(step)) return true;
  }
}

async function serviceAccount(): Promise<Account> {
  const users = await passwd();
  for (const name of ACCOUNTS) {
    const user = users.find((user) => user.name === name);
    if (user && user.uid !== 0) return { uid: user.uid, gid: user.gid };
  }
  throw new CommandError(
    `PostgreSQL refuses to run as root, and /etc/passwd has none of ${ACCOUNTS.join(', ')}: ` +
      'run as an ordinary user, or set DATABASE_URL',
  );
}

async function nameOf({ uid }: Account): Promise<string> {
  const user = (await passwd()).find((user) => user.uid === uid);
  return user?.name ?? `the user ${uid}`;
}

async function passwd(): Promise<(Account & { name: string })[]> {
  const lines = (await readFile('/etc/passwd', 'utf8').catch(() => '')).split('\n');
  return lines
    .map((line) => line.split(':'))
    .filter((fields) => fields.length > 3)
    .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }));
}
