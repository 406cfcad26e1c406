import { swc as compiler } from './transpile.mjs';

/**
 * Spec files share the modules of the service and what V8 has compiled of them, see `test/realm`. A watch loads them
 * again, since they may have changed, and a coverage is that of one suite.
 */
const isShared = !process.argv.some((argument) => /^--(watch|coverage)/.test(argument));

/**
 * How SWC compiles TypeScript for the tests: as `nest build` does.
 *
 * @type {import('@swc/core').Options}
 */
const swc = {
  ...compiler,
  sourceMaps: 'inline',
};

/** @type {import('jest').Config} */
export default {
  rootDir: '.',
  // A watch sees what changes in them.
  roots: [
    'src',
    'test',
    'packages/embedded-postgres/test',
    'packages/server/src',
    'packages/server/test',
  ].map((folder) => `<rootDir>/${folder}`),
  ...(isShared && {
    runtime: '<rootDir>/test/realm/runtime.mjs',
    testEnvironment: '<rootDir>/test/realm/environment.mjs',
  }),
  testRegex: '\\.spec\\.ts$',
  extensionsToTreatAsEsm: ['.ts'],
  transform: { '^.+\\.ts$': ['@swc/jest', swc] },
  // TypeScript sources import each other by the name of the built file.
  moduleNameMapper: {
    '^(\\.{1,2}/.*)\\.js$': '$1',
    '^#server/(.*)\\.js$': '<rootDir>/packages/server/src/$1',
    '^@catalogue/(server|client)$': '<rootDir>/packages/$1/src/index.ts',
    '^@catalogue/server/generator$': '<rootDir>/packages/server/src/generator.ts',
    '^@catalogue/server/testing$': '<rootDir>/packages/server/src/testing/index.ts',
  },
  globalSetup: '<rootDir>/test/database/global-setup.mjs',
  globalTeardown: '<rootDir>/test/database/global-teardown.mjs',
  // For what hangs. What is slow on a busy machine is no failure.
  testTimeout: 600_000,
};
