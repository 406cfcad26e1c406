import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { errorCode, unlessMissing } from './errors.js';

/** Distinguishes this process from an earlier one with its pid, such as pid 1 in a container. */
const thisProcess = `${process.pid}-${randomBytes(4).toString('hex')}`;

/**
 * Creates a folder completely or not at all. Does nothing if the folder exists and is not empty. Needs no lock: if
 * several processes create the same folder, the first to finish wins and the others use its folder.
 *
 * @param {string} folder
 * @param {(temporary: string) => Promise<string>} create builds it in a temporary folder, and returns its path
 */
export async function createAtomically(folder, create) {
  if ((await unlessMissing(readdir(folder)))?.length) return;
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

/** Removes temporary folders of processes that died while they created `folder`. @param {string} folder */
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
function remove(folder) {
  // Retries, because an initdb that outlived its parent may still write into the folder.
  return rm(folder, { recursive: true, force: true, maxRetries: 3 });
}
