import { createRequire } from 'node:module';

/** The version of the service. */
export const { version: VERSION } = createRequire(import.meta.url)('../../package.json') as {
  version: string;
};
