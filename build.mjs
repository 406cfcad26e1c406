/**
 * `npm run build`: builds in a folder beside `dist`, then replaces the files of `dist` that differ and removes those without
 * a source. Commands can start and load modules in the meantime.
 */
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';

const [target, beside] = ['dist', `.dist-${process.pid}`];

/** The commands of npm build again if a source is newer than this file. */
const MAIN = 'main.js';

// Ctrl-C reaches the compiler, too, and ends it. This process then removes its folder, also if a signal reaches it alone:
// when the compiler has ended.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
const begun = new Date();
try {
  process.exitCode = build();
  if (process.exitCode === 0) replace();
} finally {
  rmSync(beside, { recursive: true, force: true });
}

/** Runs `nest build` into the folder beside. Returns its exit status. */
function build() {
  const config = JSON.parse(readFileSync('nest-cli.json', 'utf8'));
  const { builder, assets } = config.compilerOptions;
  builder.options.outDir = beside;
  config.compilerOptions.assets = assets.map((/** @type {string | object} */ asset) => ({
    ...(typeof asset === 'string' ? { include: asset } : asset),
    outDir: beside,
  }));
  const path = join(beside, 'nest-cli.json');
  mkdirSync(beside);
  writeFileSync(path, JSON.stringify(config));
  const args = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--config', path];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  rmSync(path);
  return status ?? 1;
}

function replace() {
  const built = filesIn(beside);
  const main = built.splice(built.indexOf(MAIN), 1);
  utimesSync(join(beside, MAIN), begun, begun);
  for (const file of [...built, ...main]) {
    const [from, to] = [join(beside, file), join(target, file)];
    if (file !== MAIN && existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  const kept = new Set([...built, MAIN]);
  for (const file of filesIn(target)) if (!kept.has(file)) rmSync(join(target, file));
}

/** The paths of all files in a folder. @type {(folder: string) => string[]} */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
