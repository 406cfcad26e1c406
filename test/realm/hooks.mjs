/**
 * How Node.js loads TypeScript in a realm that spec files share: as Jest does, see `transform` and `moduleNameMapper` in
 * jest.config.js. The modules of the service are loaded once. Those of the tests are loaded for each spec file, since
 * their state belongs to it: their URLs have its number as the query.
 */
import { transform } from '@swc/core';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const [SRC, SERVER] = ['src', 'packages/server/src'].map(
  (folder) => new URL(`../../${folder}/`, import.meta.url).href,
);
/** Packages of the project are loaded from their sources. */
const OF_SOURCE = '@catalogue/source';
const GLOBALS = new URL('globals.mjs', import.meta.url).href;

let compilerOptions;

/** @param {import('@swc/core').Options} options those of Jest's `transform` */
export function initialize(options) {
  compilerOptions = options;
}

/** @type {import('node:module').ResolveHook} */
export async function resolve(specifier, context, next) {
  const [parent, query] = context.parentURL?.split('?') ?? [''];
  const ofSpec = (url) => (query ? `${url}?${query}` : url);
  if (specifier === '@jest/globals') return { url: ofSpec(GLOBALS), shortCircuit: true };
  const ofSource = { ...context, conditions: [...context.conditions, OF_SOURCE] };
  if (!parent.endsWith('.ts')) return next(specifier, ofSource);
  const found = await source(specifier, ofSource, next);
  const isOfTests = found.url.endsWith('.ts') && !isShared(found.url);
  return isOfTests ? { ...found, url: ofSpec(found.url) } : found;
}

/** The modules of the service are, but for those that stand in tests. */
function isShared(url) {
  return url.startsWith(SRC) || (url.startsWith(SERVER) && !url.startsWith(`${SERVER}testing/`));
}

/** TypeScript imports TypeScript by the name of the built file. */
async function source(specifier, context, next) {
  if (!/^(\.{1,2}|#server)\/.*\.js$/.test(specifier)) return next(specifier, context);
  try {
    return await next(specifier.replace(/\.js$/, '.ts'), context);
  } catch (error) {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return next(specifier, context);
  }
}

/** @type {import('node:module').LoadHook} */
export async function load(url, context, next) {
  if (!/^file:.*\.ts($|\?)/.test(url)) return next(url, context);
  const filename = fileURLToPath(url);
  const { code } = await transform(await readFile(filename, 'utf8'), {
    ...compilerOptions,
    swcrc: false,
    filename,
  });
  return { format: 'module', source: code, shortCircuit: true };
}
