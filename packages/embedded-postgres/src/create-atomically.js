import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode } from './errors.js';

/** Distinguishes this process from an earlier one with its pid, such as pid 1 in a container. */
const thisProcess = `${process.pid}-${randomBytes(4).toString('hex')}`;

/**
 * Creates a folder completely or not at all. Does nothing if the folder exists and is not empty. If
 * several processes create the same folder, the first to finish wins and the others use its folder,
 * so no lock is needed.
 *
 * @param {string} folder
 * @param {(temporary: string) => Promise<string>} create builds the folder inside an empty temporary
 *   folder and returns its path, which is then renamed to `folder`
 */
export async function createAtomically(folder, create) {
  if (await isFilled(folder)) return;
  await removeLeftovers(folder);
  const temporary = await mkdtemp(`${folder}.init-${thisProcess}-`);
  try {
    await rename(await create(temporary), folder);
  } catch (error) {
    const isCreatedByOther = ['ENOTEMPTY', 'EEXIST'].includes(errorCode(error) ?? '');
    if (!isCreatedByOther) throw error;
  } finally {
    await remove(temporary);
  }
}

/** @param {string} folder */
async function isFilled(folder) {
  try {
    return (await readdir(folder)).length > 0;
  } catch (error) {
    if (errorCode(error) === 'ENOENT') return false;
    throw error;
  }
}

/**
 * Removes temporary folders of processes that died while they created `folder`.
 *
 * @param {string} folder
 */
async function removeLeftovers(folder) {
  const prefix = `${basename(folder)}.init-`;
  for (const name of await readdir(dirname(folder))) {
    if (!name.startsWith(prefix)) continue;
    const creator = name.slice(prefix.length);
    const pid = Number(creator.split('-')[0]);
    const isAbandoned =
      pid === process.pid ? !creator.startsWith(`${thisProcess}-`) : !isAlive(pid);
    if (isAbandoned) await remove(join(dirname(folder), name)).catch(() => undefined);
  }
}

/** @param {number} pid */
function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

/** @param {string} folder */
async function remove(folder) {
  // Retries, because an initdb that outlived its parent may still write into the folder.
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
