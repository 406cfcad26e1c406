/** What a spec file imports from `@jest/globals`. It is loaded for each of them. */
export const { jest, expect, describe, it, beforeAll, beforeEach, afterAll, afterEach } =
  globalThis.jestGlobals;
