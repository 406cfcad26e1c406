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
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { copyShared, REPOSITORY } from './shared.js';

const USAGE =
  'Usage: create-catalogue <folder> [--from <file>], or create-catalogue <project> --upgrade';

/** The resource of a project that is made of no file; the template has its rows. */
const PRODUCTS = [
  'products',
  'name:text:words:sort,kind:text=40:several:counted,price:decimal:interval:sort,launchedOn:date:null:interval:sort',
];

const { resolve: pathOf } = createRequire(import.meta.url);
const TEMPLATE = join(dirname(pathOf('@catalogue/server/package.json')), 'template');
const PACKED = fileURLToPath(new URL('shared', import.meta.url));

/** npm leaves these out of a package under their own names. */
const RENAMED = { gitignore: '.gitignore', dockerignore: '.dockerignore' };

/** The packages of a project that this repository makes, while they are published nowhere. */
const PACKAGES = ['packages/embedded-postgres', 'packages/schematics', 'packages/server'];

await create().catch((error) => {
  console.error(`create-catalogue: ${error.message}`);
  process.exitCode = 1;
});

async function create() {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { from: { type: 'string' }, upgrade: { type: 'boolean' } },
  });
  const [name] = positionals;
  if (name === undefined || positionals.length > 1) throw new Error(USAGE);
  const folder = resolve(process.env.INIT_CWD ?? '.', name);
  if (values.upgrade) {
    if (!existsSync(join(folder, 'vendor'))) throw new Error(`${name} has no folder vendor`);
    vendor(folder);
    console.log(`${folder} has the packages of this version. Next: npm install`);
    return;
  }
  const file = values.from && resolve(process.env.INIT_CWD ?? '.', values.from);
  if (file !== undefined && !statSync(file, { throwIfNoEntry: false })?.isFile())
    throw new Error(`There is no file ${values.from}`);
  const existing = statSync(folder, { throwIfNoEntry: false });
  if (existing && !(existing.isDirectory() && readdirSync(folder).length === 0))
    throw new Error(`${name} is not an empty folder: name another one`);
  const first = mkdirSync(folder, { recursive: true });
  const remove = () => {
    if (first) rmSync(first, { recursive: true, force: true });
    else for (const each of readdirSync(folder)) rmSync(join(folder, each), { recursive: true });
  };
  for (const signal of ['SIGINT', 'SIGTERM'])
    process.on(signal, () => {
      remove();
      process.exit(130);
    });
  try {
    await write(folder, file);
  } catch (error) {
    remove();
    throw error;
  }
  const { shell } = await import('@catalogue/schematics/resource/sample.js');
  console.log(`${folder} is a catalogue. Next:\n  cd ${shell(name)}\n  npm install\n  npm start`);
}

/** @type {(folder: string, file: string | undefined) => Promise<void>} */
async function write(folder, file) {
  const isOfRepository = !existsSync(PACKED);
  copyShared(isOfRepository ? REPOSITORY : PACKED, folder);
  const resource = file ? resourceOf(file) : PRODUCTS[0];
  writeTemplate(folder, resource, file === undefined);
  // What the generator refuses is known before seconds of packing.
  await generate(folder, file ? [resource, file] : PRODUCTS);
  if (isOfRepository) vendor(folder);
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
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const path = join(folder, 'package.json');
  const manifest = JSON.parse(readFileSync(path, 'utf8'));
  const workspaces = PACKAGES.map((each) => `--workspace=${each}`);
  const args = ['pack', '--silent', '--json', `--pack-destination=${target}`, ...workspaces];
  const output = execFileSync('npm', args, {
    cwd: REPOSITORY,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for (const { name, filename } of JSON.parse(output.toString()))
    for (const group of ['dependencies', 'devDependencies', 'optionalDependencies'])
      if (manifest[group]?.[name]) manifest[group][name] = `file:vendor/${filename}`;
  writeFileSync(path, `${JSON.stringify(manifest, null, 2)}\n`);
  for (const [file, line, added] of [
    ['Dockerfile', 'COPY package.json package-lock.json ./\n', 'COPY vendor vendor\n'],
    ['.dockerignore', '!src\n', '!vendor\n'],
  ]) {
    const text = readFileSync(join(folder, file), 'utf8');
    if (!text.includes(added)) writeFileSync(join(folder, file), text.replace(line, line + added));
  }
}

/** Runs the generator of resources in the project. @type {(folder: string, words: string[]) => Promise<void>} */
async function generate(folder, words) {
  const collection = pathOf('@catalogue/schematics/collection.json');
  // The generator reads the format of the project that it runs in.
  process.chdir(folder);
  // Late, since they load for a second, which wrong input need not wait for.
  const { logging } = await import('@angular-devkit/core');
  const { NodeWorkflow } = await import('@angular-devkit/schematics/tools/index.js');
  const logger = new logging.Logger('create');
  logger.subscribe(({ message }) => console.log(message));
  const workflow = new NodeWorkflow(folder, {});
  const options = { name: words[0], words };
  await workflow.execute({ collection, schematic: 'resource', options, logger }).toPromise();
}
