import { expect, it } from '@jest/globals';
import { ScratchCopy } from '../schematics/scratch-copy.js';

it('Jest needs no build: it migrates the database of the tests from the sources', async () => {
  // It has no dist.
  const copy = await ScratchCopy.make();
  try {
    const { status, stderr } = await copy.jest('test/database/schema.spec');
    expect({ status, stderr }).toEqual({
      status: 0,
      stderr: expect.stringContaining('Test Suites: 1 passed, 1 total'),
    });
  } finally {
    await copy.remove();
  }
});
