#!/usr/bin/env node
/** `npm create catalogue <folder> [-- --from products.csv]`: writes a project with one resource. */
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { main } from '@angular-devkit/schematics-cli/bin/schematics.js';
import { copyShared, REPOSITORY } from './shared.js';

const USAGE = 'Usage: npm create catalogue <folder> [-- --from <file>]';

/** The resource of a project that is made of no file; `template/demo` has its rows. */
const PRODUCTS = [
  'products',
  'name:text:words:sort,kind:text=40:several:counted,price:decimal:interval:sort,launchedOn:date:null:interval:sort',
];

const TEMPLATE = fileURLToPath(new URL('template', import.meta.url));
const PACKED = fileURLToPath(new URL('shared', import.meta.url));

/** npm leaves these out of a package under their own names. */
const RENAMED = { gitignore: '.gitignore', dockerignore: '.dockerignore' };

/** The packages of a project that this repository makes, while they are published nowhere. */
const PACKAGES = ['embedded-postgres', 'schematics', 'server'];

await create().catch((error) => {
  console.error(`create-catalogue: ${error.message}`);
  process.exitCode = 1;
});

async function create() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { from: { type: 'string' } },
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new Error(USAGE);
  const folder = resolve(process.env.INIT_CWD ?? '.', name);
  const file = values.from && resolve(process.env.INIT_CWD ?? '.', values.from);
  if (file !== undefined && !existsSync(file)) throw new Error(`There is no file ${values.from}`);
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new Error(`${name} is not empty: name another folder`);
  const isOfRepository = !existsSync(PACKED);
  mkdirSync(folder, { recursive: true });
  try {
    copyShared(isOfRepository ? REPOSITORY : PACKED, folder);
    const resource = file ? resourceOf(file) : PRODUCTS[0];
    writeTemplate(folder, resource, file === undefined);
    if (isOfRepository) vendor(folder);
    await generate(folder, file ? [resource, file] : PRODUCTS);
  } catch (error) {
    rmSync(folder, { recursive: true });
    throw error;
  }
  console.log(`${folder} is a catalogue. Next:\n  cd ${name}\n  npm install\n  npm start`);
}

/** The name of the resource of a file: `order_items` for `Order Items.csv`. @type {(file: string) => string} */
function resourceOf(file) {
  const [name = ''] = basename(file).split('.');
  return name.toLowerCase().replace(/[^a-z0-9]+/g, '_');
}

/** @type {(folder: string, resource: string, hasDemonstration: boolean) => void} */
function writeTemplate(folder, resource, hasDemonstration) {
  cpSync(TEMPLATE, folder, { recursive: true });
  for (const [from, to] of Object.entries(RENAMED))
    renameSync(join(folder, from), join(folder, to));
  if (!hasDemonstration) rmSync(join(folder, 'demo'), { recursive: true });
  for (const path of ['README.md', 'AGENTS.md', 'package.json']) {
    const text = readFileSync(join(folder, path), 'utf8');
    const filled = text
      .replaceAll('{{name}}', packageName(folder))
      .replaceAll('{{resource}}', resource);
    writeFileSync(join(folder, path), filled);
  }
}

/** @type {(folder: string) => string} */
function packageName(folder) {
  return (
    basename(folder)
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .replace(/^[._-]+/, '') || 'catalogue'
  );
}

/** Packs what the project depends on into its folder `vendor`. @type {(folder: string) => void} */
function vendor(folder) {
  const target = join(folder, 'vendor');
  mkdirSync(target);
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  for (const each of PACKAGES) {
    const args = ['pack', '--json', '--pack-destination', target];
    const output = execFileSync('npm', args, {
      cwd: join(REPOSITORY, 'packages', each),
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();
    const [{ name, filename }] = JSON.parse(output.slice(output.indexOf('[\n')));
    for (const group of ['dependencies', 'devDependencies', 'optionalDependencies'])
      if (manifest[group]?.[name]) manifest[group][name] = `file:vendor/${filename}`;
  }
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [file, line, added] of [
    ['Dockerfile', 'COPY package.json package-lock.json ./\n', 'COPY vendor vendor\n'],
    ['.dockerignore', '!src\n', '!vendor\n'],
  ]) {
    const text = readFileSync(join(folder, file), 'utf8');
    writeFileSync(join(folder, file), text.replace(line, line + added));
  }
}

/** Runs the generator of resources in the project. @type {(folder: string, args: string[]) => Promise<void>} */
async function generate(folder, args) {
  const collection = createRequire(import.meta.url).resolve(
    '@catalogue/schematics/collection.json',
  );
  process.chdir(folder);
  const status = await main({
    args: [`${dirname(collection)}/collection.json:resource`, ...args, '--no-debug'],
  });
  if (status !== 0) throw new Error(`The resource ${args[0]} could not be made`);
}
