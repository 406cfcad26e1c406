import { readFileSync } from 'node:fs';

/** What `nest new` writes for its greeting and for Vitest. The tests of a catalogue run in Jest. */
const EXAMPLE = [
  'src/app.controller.spec.ts',
  'src/app.controller.ts',
  'src/app.service.ts',
  'test/app.e2e-spec.ts',
  'vitest.config.e2e.ts',
  'vitest.config.ts',
];

/** What a project takes from the template. */
const TAKEN = [
  '.env.example',
  'AGENTS.md',
  '.swcrc',
  'nest-cli.json',
  'src/app.module.ts',
  'src/data-source.ts',
  'src/main.ts',
  'tsconfig.build.json',
  'tsconfig.json',
];

/** Scripts and packages of `nest new` for Vitest. */
const OF_VITEST = /^(test:|vitest$|@vitest\/|vite-)/;

/** `nest add @catalogue/server`: makes an empty project of `nest new` a catalogue without resources. */
export function nestAdd() {
  return (tree, { logger }) => {
    const known = new Set([...EXAMPLE, ...TAKEN].map((path) => `/${path}`));
    tree.getDir('/src').visit((path) => {
      if (!known.has(path))
        throw new Error(
          `A catalogue is a service of its own: run nest add in an empty project of nest new, not in one with ${path.slice(1)}`,
        );
    });
    for (const path of EXAMPLE) if (tree.exists(path)) tree.delete(path);
    for (const path of TAKEN)
      write(tree, path, template(path).replaceAll('{{resource}}', 'suppliers'));
    write(tree, 'package.json', manifest(tree.readJson('package.json')));
    const ignored = tree.exists('.gitignore') ? tree.readText('.gitignore') : '';
    if (!/^\.data/m.test(ignored)) write(tree, '.gitignore', ignored + template('gitignore'));
    logger.info(
      'Next:\n  npm install\n  npm run resource -- suppliers name:text:exact:sort\n  npm start',
    );
  };
}

/** The manifest of the project with the scripts and packages of the template. */
function manifest(project) {
  const merged = { ...project };
  for (const [key, value] of Object.entries(JSON.parse(template('package.json')))) {
    if (key === 'jest') merged[key] = value;
    else if (typeof value === 'object') {
      const kept = Object.entries(project[key] ?? {}).filter(([each]) => !OF_VITEST.test(each));
      // A package that the project has from a file stays.
      const own = kept.filter(([, each]) => each.startsWith('file:'));
      merged[key] = { ...Object.fromEntries(kept), ...value, ...Object.fromEntries(own) };
    }
  }
  return `${JSON.stringify(merged, null, 2)}\n`;
}

function template(path) {
  return readFileSync(new URL(`template/${path}`, import.meta.url), 'utf8');
}

function write(tree, path, text) {
  if (tree.exists(path)) tree.overwrite(path, text);
  else tree.create(path, text);
}
