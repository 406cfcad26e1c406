import { expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { totalmem } from 'node:os';

// As in the containers: it reads /proc and /sys.
const onLinux = process.platform === 'linux' ? it : it.skip;

onLinux('PostgreSQL gets settings for the memory, before the given options', () => {
  const given = ['-c', 'shared_buffers=1GB'];
  const { stdout, stderr } = spawnSync('deploy/postgres.sh', ['echo', ...given], {
    encoding: 'utf8',
  });
  expect(stderr).toBe('');
  const options = stdout.trim().split(' ');
  expect(options.slice(-2)).toEqual(given);
  const settings = options.slice(0, -2).filter((option) => option !== '-c');
  const limit = process.constrainedMemory();
  const memory = limit > 0 ? Math.min(limit, totalmem()) : totalmem();
  const part = (share: number): string => `${Math.floor(Math.floor(memory / 2 ** 20) * share)}MB`;
  expect(settings).toEqual([
    `shared_buffers=${part(1 / 4)}`,
    `effective_cache_size=${part(3 / 4)}`,
    `maintenance_work_mem=${part(1 / 16)}`,
    'max_wal_size=4GB',
    'checkpoint_timeout=15min',
    'wal_compression=lz4',
  ]);
});
