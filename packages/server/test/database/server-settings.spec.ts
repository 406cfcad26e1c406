import { expect, it } from '@jest/globals';
import { serverSettings } from '#server/database/server-settings.js';

const GIGABYTE = 2 ** 30;

it.each([
  ['a small container', 1 * GIGABYTE, ['128MB', '512MB', '64MB']],
  ['a container', 8 * GIGABYTE, ['512MB', '4096MB', '128MB']],
  ['a large machine without a limit', 0, ['1024MB', '32768MB', '256MB']],
  ['a limit that the machine does not have', 2 ** 63, ['1024MB', '32768MB', '256MB']],
])('The embedded server has settings for the memory of %s', (_, limit, expected) => {
  const settings = serverSettings(limit, 64 * GIGABYTE);
  const { shared_buffers, effective_cache_size, maintenance_work_mem } = settings;
  expect([shared_buffers, effective_cache_size, maintenance_work_mem]).toEqual(expected);
  expect(settings.max_wal_size).toBe('4GB');
});
