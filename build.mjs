/**
 * `npm run build`: builds the package of the service, then the project. Each is built in a folder beside its `dist`. Then
 * the files of `dist` that differ are replaced, and those without a source are removed. Commands can start and load modules
 * in the meantime.
 */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
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
import { transpile } from './transpile.mjs';

const SERVER = 'packages/server';

/** Scalar, the page of the documentation, whose modules import each other by relative paths. */
const SCALAR = '@scalar/api-reference/dist/browser';

/** The commands of npm build again if a source is newer than this file. */
const MAIN = 'main.js';

// Ctrl-C reaches the compiler, too, and ends it. This process then removes its folders, also if a signal reaches it alone:
// when the compiler has ended.
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
const begun = new Date();
await replaced(SERVER, buildServer);
await replaced('.', buildProject);

/**
 * Runs a build into a folder beside the `dist` of a package, and replaces that if it succeeds.
 *
 * @type {(folder: string, build: (beside: string) => number | Promise<number>) => Promise<void>}
 */
async function replaced(folder, build) {
  if (process.exitCode) return;
  const beside = join(folder, `.dist-${process.pid}`);
  try {
    process.exitCode = await build(beside);
    if (process.exitCode === 0) replace(beside, join(folder, 'dist'));
  } finally {
    rmSync(beside, { recursive: true, force: true });
  }
}

/** @type {(beside: string) => Promise<number>} */
async function buildServer(beside) {
  await transpile(join(SERVER, 'src'), beside);
  cpSync(join('node_modules', SCALAR), join(beside, SCALAR), {
    recursive: true,
    filter: (path) =>
      !/\.[^.]+$/.test(path) || /(standalone\.esm|chunks\/(?!Agent)[^/]*)\.js$/.test(path),
  });
  return 0;
}

/** Runs `nest build`. Returns its exit status. @type {(beside: string) => number} */
function buildProject(beside) {
  const config = JSON.parse(readFileSync('nest-cli.json', 'utf8'));
  config.compilerOptions.builder.options.outDir = beside;
  const path = join(beside, 'nest-cli.json');
  mkdirSync(beside);
  writeFileSync(path, JSON.stringify(config));
  const args = ['node_modules/@nestjs/cli/bin/nest.js', 'build', '--config', path];
  const { status } = spawnSync(process.execPath, args, { stdio: 'inherit' });
  rmSync(path);
  return status ?? 1;
}

/** @type {(beside: string, target: string) => void} */
function replace(beside, target) {
  const built = filesIn(beside);
  const last = built.includes(MAIN) ? built.splice(built.indexOf(MAIN), 1) : [];
  for (const main of last) utimesSync(join(beside, main), begun, begun);
  for (const file of [...built, ...last]) {
    const [from, to] = [join(beside, file), join(target, file)];
    if (file !== MAIN && existsSync(to) && readFileSync(from).equals(readFileSync(to))) continue;
    mkdirSync(dirname(to), { recursive: true });
    renameSync(from, to);
  }
  const kept = new Set([...built, ...last]);
  for (const file of filesIn(target)) if (!kept.has(file)) rmSync(join(target, file));
}

/** The paths of all files in a folder. @type {(folder: string) => string[]} */
function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}
