import { expect, it } from '@jest/globals';
import { ScratchCopy } from '../schematics/scratch-copy.js';

it('Jest needs no build: it migrates the database of the tests from the sources', async () => {
  // It has no dist.
  const copy = await ScratchCopy.make();
  try {
    const { status, stderr } = await copy.run(
      ['node_modules/jest/bin/jest.js', 'test/database/schema.spec'],
      { environment: { TEST_DATABASE_URL: process.env.TEST_SERVER_URL } },
    );
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('Test Suites: 1 passed, 1 total'),
    });
  } finally {
    await copy.remove();
  }
});
