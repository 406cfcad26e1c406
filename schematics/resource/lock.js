import { createHash } from 'node:crypto';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GeneratorError } from './generator-error.js';

/** Milliseconds after which the lock of another generator is no longer waited for. */
const TIMEOUT = 30_000;
/** Milliseconds between two attempts. */
const INTERVAL = 50;

/**
 * Waits until no other generator writes into the project of the current folder, and keeps others waiting
 * until this process ends: files are written after the schematic has returned.
 */
export async function lockProject() {
  const name = createHash('sha256').update(process.cwd()).digest('hex').slice(0, 16);
  const path = join(tmpdir(), `catalogue-resource-${name}.lock`);
  for (const end = Date.now() + TIMEOUT; ; await sleep(INTERVAL)) {
    try {
      await writeFile(path, String(process.pid), { flag: 'wx' });
      break;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
    }
    const holder = Number(await readFile(path, 'utf8').catch(() => ''));
    // This process itself, or one that ended and had its number.
    if (holder === process.pid) break;
    // Empty for a moment after it was created.
    if (holder > 0 && !isRunning(holder)) await rm(path, { force: true });
    else if (Date.now() > end) {
      throw new GeneratorError(
        `Another generator is at work: process ${holder}, which holds ${path}`,
      );
    }
  }
  process.once('exit', () => {
    rmSync(path, { force: true });
  });
}

/** @param {number} pid */
function isRunning(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === 'EPERM';
  }
}
