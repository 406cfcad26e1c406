import { transform } from '@swc/core';
import { readFileSync, statSync } from 'node:fs';
import { copyFile, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/**
 * How SWC compiles TypeScript: as `nest build` does.
 *
 * @type {import('@swc/core').Options}
 */
export const swc = JSON.parse(readFileSync(new URL('.swcrc', import.meta.url), 'utf8'));

/**
 * Compiles sources to JavaScript without checking their types, and copies SQL and Markdown.
 *
 * @param {string} source a folder
 * @param {string} target the folder of the JavaScript
 * @param {number} [since] the time, in milliseconds since 1970, since when a source must have changed. Default: all
 */
export async function transpile(source, target, since = 0) {
  const files = (await readdir(source, { recursive: true })).filter(
    (name) => statSync(join(source, name)).mtimeMs >= since,
  );
  await Promise.all(
    files.map(async (name) => {
      const from = join(source, name);
      const isCode = /\.[jt]s$/.test(name) && !name.endsWith('.d.ts');
      if (!isCode && !/(?<!README)\.(sql|md)$/.test(name)) return;
      const to = join(target, isCode ? name.replace(/\.ts$/, '.js') : name);
      await mkdir(dirname(to), { recursive: true });
      if (isCode) await compile(from, to);
      else await copyFile(from, to);
    }),
  );
}

/** @type {(from: string, to: string) => Promise<void>} */
async function compile(from, to) {
  const options = { ...swc, sourceMaps: true, swcrc: false, filename: from };
  const { code, map } = await transform(await readFile(from, 'utf8'), options);
  await writeFile(to, `${code}//# sourceMappingURL=${basename(to)}.map\n`);
  await writeFile(`${to}.map`, map ?? '');
}
