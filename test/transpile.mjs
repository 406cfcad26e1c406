import { transform } from '@swc/core';
import { statSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { swc } from '../jest.config.js';

/**
 * Compiles sources to JavaScript without checking their types, and copies SQL.
 *
 * @param {string} source a folder
 * @param {string} target the folder of the JavaScript
 * @param {number} [since] the time, in milliseconds since 1970, since when a source must have changed. Default: all
 */
export async function transpile(source, target, since = 0) {
  const files = (await readdir(source, { recursive: true })).filter(
    (name) => statSync(join(source, name)).mtimeMs >= since,
  );
  const sql = files.filter((name) => name.endsWith('.sql'));
  await Promise.all(
    sql.map(async (name) => {
      await mkdir(dirname(join(target, name)), { recursive: true });
      await copyFile(join(source, name), join(target, name));
    }),
  );
  await Promise.all(
    files
      .filter((name) => /\.[jt]s$/.test(name) && !name.endsWith('.d.ts'))
      .map(async (name) => {
        const { code } = await transform(await readFile(join(source, name), 'utf8'), {
          ...swc,
          swcrc: false,
          filename: join(source, name),
        });
        const built = join(target, name.replace(/\.ts$/, '.js'));
        await mkdir(dirname(built), { recursive: true });
        await writeFile(built, code);
      }),
  );
}
