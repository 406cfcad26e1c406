import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './error-code.js';

/** Tells this process from an earlier one that had the same number, as pid 1 of a container has. */
const thisProcess = `${process.pid}-${randomBytes(4).toString('hex')}`;

/**
 * Makes a folder appear whole or not at all: `make` fills one inside the empty folder it is given
 * and returns it, and that is renamed to `folder`. Where several processes make the same folder,
 * the first to finish wins, and the others take its: this is why no lock is needed.
 */
export async function makeWhole(
  folder: string,
  make: (aside: string) => Promise<string>,
): Promise<void> {
  if (await isFilled(folder)) return;
  await removeLeftovers(folder);
  const aside = await mkdtemp(`${folder}.init-${thisProcess}-`);
  try {
    await rename(await make(aside), folder);
  } catch (error) {
    const lost = ['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '');
    if (!lost) throw error;
  } finally {
    await remove(aside);
  }
}

async function isFilled(folder: string): Promise<boolean> {
  try {
    return (await readdir(folder)).length > 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/** Removes what processes left behind that died while they were making `folder`. */
async function removeLeftovers(folder: string): Promise<void> {
  const prefix = `${basename(folder)}.init-`;
  for (const name of await readdir(dirname(folder))) {
    if (!name.startsWith(prefix)) continue;
    const maker = name.slice(prefix.length);
    const pid = Number(maker.split('-')[0]);
    const left = pid === process.pid ? !maker.startsWith(`${thisProcess}-`) : !isAlive(pid);
    if (left) await remove(join(dirname(folder), name)).catch(() => undefined);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

async function remove(folder: string): Promise<void> {
  // An initdb that outlived its starter may still be writing into the folder.
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
