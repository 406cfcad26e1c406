import { transformSync } from '@swc/core';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);

/** Spec files that this worker has run. */
let specFiles = 0;

/**
 * A runtime of Jest that loads spec files by Node.js itself, so that they share the modules of the service and of
 * packages, and what V8 has compiled of them. Of Jest's own runtime it has what jest-circus and the tests use.
 */
export default class Runtime {
  constructor(config, environment) {
    this.environment = environment;
    this.sourceMaps = new SourceMaps(config);
  }

  async unstable_importModule(path) {
    const { forgetEntities } = await import('./entities.mjs');
    forgetEntities();
    specFiles += 1;
    return import(`${pathToFileURL(path).href}?${specFiles}`);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** Loads jest-circus, of which each spec file has an instance. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  setGlobalsForRuntime(globals) {
    const { fakeTimersModern, moduleMocker } = this.environment;
    const jest = {
      spyOn: (...args) => moduleMocker.spyOn(...args),
      restoreAllMocks: () => moduleMocker.restoreAllMocks(),
      useFakeTimers: (options) => fakeTimersModern.useFakeTimers(options),
      useRealTimers: () => fakeTimersModern.useRealTimers(),
      advanceTimersByTimeAsync: (milliseconds) =>
        fakeTimersModern.advanceTimersByTimeAsync(milliseconds),
    };
    globalThis.jestGlobals = { ...globals, jest };
  }

  getSourceMaps() {
    return this.sourceMaps;
  }

  getAllCoverageInfoCopy() {}
  enterTestCode() {}
  leaveTestCode() {}
  teardown() {}
}

/** Jest requires this module. */
export const __esModule = true;

/** Files of source maps by the URL of a module, made for the modules that stand in the trace of an error. */
class SourceMaps extends Map {
  constructor({ cacheDirectory, transform: [[, , compilerOptions]] }) {
    super();
    this.folder = cacheDirectory;
    this.options = { ...compilerOptions, swcrc: false, sourceMaps: true };
  }

  get(url) {
    if (!super.has(url) && /^file:.*\.ts($|\?)/.test(url)) super.set(url, this.write(url));
    return super.get(url);
  }

  write(url) {
    const filename = fileURLToPath(url);
    const source = readFileSync(filename, 'utf8');
    const { map } = transformSync(source, { ...this.options, filename });
    const path = join(this.folder, `${createHash('sha1').update(map).digest('hex')}.map`);
    mkdirSync(this.folder, { recursive: true });
    writeFileSync(path, map);
    return path;
  }
}
