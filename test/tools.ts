import { describe, it } from '@jest/globals';
import { existsSync } from 'node:fs';
import { join } from 'node:path';

/** A program or package that some tests need and `npm ci` does not install. */
export interface Tool {
  /** Its name in `CI_LACKS`. */
  readonly name: string;
  readonly isThere: boolean;
  /** The command that installs it. */
  readonly install: string;
}

/** The path of a program: that of an environment variable, or the first on the PATH. Undefined if there is none. */
export function programOf(variable: string, name: string): string | undefined {
  const { PATH = '', [variable]: path = '' } = process.env;
  const folders = [...PATH.split(':'), '/usr/sbin', '/usr/local/sbin'];
  return [path, ...folders.map((folder) => join(folder, name))].find(
    (each) => each !== '' && existsSync(each),
  );
}

/**
 * `describe` and `it` for tests that need a tool. Without the tool these tests are skipped. Where `CI`
 * is set, a test fails instead that names the tool, unless `CI_LACKS` contains its name: `.ci/run` sets
 * that to a list separated by spaces where it cannot install anything.
 */
export function withTool({ name, isThere, install }: Tool): {
  describe: typeof describe.skip;
  it: typeof it.skip;
} {
  if (isThere) return { describe, it };
  const isExcused = (process.env.CI_LACKS ?? '').split(' ').includes(name);
  if (process.env.CI && !isExcused) {
    it(`${name} is installed`, () => {
      throw new Error(`CI needs ${name}: ${install}`);
    });
  } else {
    console.warn(`There is no ${name}, and tests are skipped: ${install}`);
  }
  return { describe: describe.skip, it: it.skip };
}
