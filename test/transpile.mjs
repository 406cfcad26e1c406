import { transform } from '@swc/core';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { swc } from '../jest.config.js';

/**
 * Compiles sources to JavaScript without checking their types.
 *
 * @param {string} source a folder
 * @param {string} target the folder of the JavaScript
 */
export async function transpile(source, target) {
  const files = await readdir(source, { recursive: true });
  await Promise.all(
    files
      .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.d.ts'))
      .map(async (name) => {
        const { code } = await transform(await readFile(join(source, name), 'utf8'), {
          ...swc(),
          swcrc: false,
          filename: join(source, name),
        });
        const built = join(target, name.replace(/\.ts$/, '.js'));
        await mkdir(dirname(built), { recursive: true });
        await writeFile(built, code);
      }),
  );
}
