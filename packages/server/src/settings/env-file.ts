import { readFileSync, statSync } from 'node:fs';
import { CommandError } from '../command-error.js';

const ENV_FILE = '.env';

/**
 * A line that sets nothing or one variable, with the lines of its value if that is in quotes. Node.js reads neither tabs
 * around a name nor an indented comment with a quote as one would expect, and ends a value at NUL.
 */
const ENV_LINE =
  /^(#[^\0\n]*| *(export )?[A-Za-z_]\w* *= *("[^"\0]*"|'[^'\0]*'|`[^`\0]*`)?[^\0\n]*| *)\r?$/gm;

/**
 * Adds the variables of the file `.env` of the current directory to the environment, if there is one. What the
 * environment has already stays as it is, also if it is empty.
 *
 * @throws CommandError if it is not a regular file in UTF-8, or has a line of another form, which Node.js would ignore
 */
export function loadEnvFile(): void {
  const text = readTextFile(ENV_FILE);
  if (text === undefined) return;
  // UTF-16 begins with bytes that are not UTF-8.
  if (/^[\uFEFF\uFFFD]/.test(text))
    throw new CommandError(`${ENV_FILE} must be UTF-8 without a byte order mark`);
  // The message contains no value: it may have a password.
  const others = text.replace(ENV_LINE, (line) => line.replace(/[^\n]/g, '')).split('\n');
  const at = others.findIndex((line) => line !== '');
  if (at !== -1) throw new CommandError(`Line ${at + 1} of ${ENV_FILE} must be like NAME=value`);
  process.loadEnvFile(ENV_FILE);
}

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
