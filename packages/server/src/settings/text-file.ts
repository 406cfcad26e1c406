import { readFileSync, statSync } from 'node:fs';
import { CommandError } from '../command-error.js';

/**
 * Reads a file of settings; `undefined` if there is none.
 *
 * @param name what it is called in an error
 * @throws CommandError if it is not a regular file, or cannot be read
 */
export function readTextFile(path: string, name = path): string | undefined {
  let isFile: boolean;
  let text = '';
  try {
    isFile = statSync(path).isFile();
    // Reading a pipe would wait for a writer.
    if (isFile) text = readFileSync(path, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandError(`${name} cannot be read: ${code}`);
  }
  if (!isFile) throw new CommandError(`${name} must be a regular file`);
  return text;
}
