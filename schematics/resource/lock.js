import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { GeneratorError } from './generator-error.js';

/** Milliseconds after which another generator is no longer waited for, and between two attempts. */
const [TIMEOUT, INTERVAL] = [30_000, 50];

let isHeld = false;

/**
 * Waits until no other generator writes into the project of the current folder, and keeps others waiting until this
 * process ends: files are written after the schematic has returned. The lock is a port that one process can listen at,
 * which the system frees when the process ends.
 */
export async function lockProject() {
  const port =
    20_000 + (createHash('sha256').update(process.cwd()).digest().readUInt16BE() % 10_000);
  for (const end = Date.now() + TIMEOUT; !isHeld; await sleep(INTERVAL)) {
    try {
      await once(createServer().listen(port, '127.0.0.1').unref(), 'listening');
      isHeld = true;
    } catch (error) {
      if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EADDRINUSE') throw error;
      if (Date.now() > end) {
        throw new GeneratorError(`Another generator is at work: something listens at port ${port}`);
      }
    }
  }
}
