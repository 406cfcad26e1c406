/**
 * `npm run test:fast`: builds, then runs Jest with the arguments given, or by default with the specs nearest to what changed
 * since the last commit. With options alone, such as `--watch`, it leaves out the specs of whole processes.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isWhole, jest, SYSTEM } from './jest.mjs';

/** Maximum number of specs for one changed file. */
const MAXIMUM = 8;
/** What a word that the paths of a file and a spec share counts, in steps from one import to the next. */
const WORD = 4;
/** The steps to a spec that does not import the file, such as one of an SQL file. */
const FAR = 6;
const FOLDERS = ['src', 'test', 'packages', 'schematics'];
/** Words that say nothing of what a file is about. */
const NO_WORDS = ['src', 'test', 'package', 'spec', 'system'];
const IS_SPEC = /\.spec\.ts$/;

/**
 * The specs nearest to what changed: in few steps they import a file, or what imports it, and their paths share words
 * with its path.
 *
 * @returns {string[]} paths
 */
export function partOfSuite() {
  const texts = new Map(sources().map((path) => [path, readFileSync(path, 'utf8')]));
  const importers = importersIn(texts);
  const specs = [...texts.keys()].filter((path) => IS_SPEC.test(path));
  const nearest = changedFiles().flatMap((changed) => {
    if (IS_SPEC.test(changed)) return specs.filter((spec) => spec === changed);
    const steps = stepsFrom(changed, importers);
    const words = wordsOf(changed);
    const distance = (/** @type {string} */ spec) => {
      const isNamed = texts.get(spec)?.includes(basename(changed)) ?? false;
      const shared = wordsOf(spec).filter((word) => words.includes(word)).length;
      return Math.min(steps.get(spec) ?? FAR, isNamed ? 1 : FAR) - WORD * shared;
    };
    const near = specs.filter((spec) => distance(spec) < FAR);
    return near.sort((one, other) => distance(one) - distance(other)).slice(0, MAXIMUM);
  });
  return [...new Set(nearest)];
}

/** @returns {string[]} */
function sources() {
  return FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => /\.(ts|js|mjs)$/.test(path) && !/\bnode_modules\b|\bdist\b/.test(path)),
  );
}

/** @returns {string[]} */
function changedFiles() {
  // A renamed file has changed under both names: what imports the old one is near, too.
  return [
    'diff HEAD --name-only --no-renames --relative -z',
    'ls-files --others --exclude-standard -z',
  ]
    .flatMap((command) => String(spawnSync('git', command.split(' ')).stdout).split('\0'))
    .filter((path) => path !== '');
}

/**
 * @param {ReadonlyMap<string, string>} texts
 * @returns {ReadonlyMap<string, string[]>} the files that import each file
 */
function importersIn(texts) {
  const importers = new Map();
  for (const [path, text] of texts) {
    for (const [, name = ''] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
      const named = join(path, '..', name);
      const imported = texts.has(named) ? named : named.replace(/\.js$/, '.ts');
      importers.set(imported, [...(importers.get(imported) ?? []), path]);
    }
  }
  return importers;
}

/**
 * @param {string} changed
 * @param {ReadonlyMap<string, string[]>} importers
 * @returns {ReadonlyMap<string, number>} the steps to each file that depends on it
 */
function stepsFrom(changed, importers) {
  const steps = new Map([[changed, 0]]);
  // A map also has what is added while it is read.
  for (const [path, count] of steps) {
    for (const importer of importers.get(path) ?? []) {
      if (!steps.has(importer)) steps.set(importer, count + 1);
    }
  }
  return steps;
}

/**
 * The words of a path, in the singular.
 *
 * @param {string} path
 */
function wordsOf(path) {
  const words = path.split(/[/.-]/).slice(0, -1);
  return [...new Set(words.map((word) => word.replace(/s$/, '')))].filter(
    (word) => !NO_WORDS.includes(word),
  );
}

if (process.argv[1] === import.meta.filename) {
  const given = process.argv.slice(2);
  const nearest = given.length > 0 ? [] : partOfSuite();
  if (given.length === 0 && nearest.length === 0) {
    console.info(
      'No spec is near to what changed since the last commit. npm test and npm run test:system run all of them.',
    );
  } else {
    // Some tests start the build.
    execFileSync('npm', ['run', '-s', 'build']);
    const ofNearest = ['--runTestsByPath', ...nearest];
    const ofGiven = isWhole(given) ? [...given, '--testPathIgnorePatterns', SYSTEM] : given;
    process.exitCode = await jest(given.length > 0 ? ofGiven : ofNearest);
  }
}
