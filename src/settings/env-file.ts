import { readFileSync } from 'node:fs';
import { CommandError } from '../command-error.js';

const FILE = '.env';

/**
 * A line that sets nothing or one variable, with the lines of its value if that is in quotes. Node.js reads neither tabs
 * around a name nor an indented comment with a quote as one would expect, and ends a value at NUL.
 */
const LINE =
  /^(#[^\0\n]*| *(export )?[A-Za-z_]\w* *= *("[^"\0]*"|'[^'\0]*'|`[^`\0]*`)?[^\0\n]*| *)\r?$/gm;

/**
 * Adds the variables of the file `.env` of the current directory to the environment, if there is one. What the
 * environment has already stays as it is, also if it is empty.
 *
 * @throws CommandError if the file cannot be read, or has a line of another form, which Node.js would ignore
 */
export function loadEnvFile(): void {
  let text: string;
  try {
    text = readFileSync(FILE, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return;
    throw new CommandError(`${FILE} cannot be read: ${code}`);
  }
  // The message contains no value: it may have a password.
  const others = text.replace(LINE, (line) => line.replace(/[^\n]/g, '')).split('\n');
  const at = others.findIndex((line) => line !== '');
  if (at !== -1) throw new CommandError(`Line ${at + 1} of ${FILE} must be like NAME=value`);
  process.loadEnvFile(FILE);
}
