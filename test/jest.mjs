import { spawn } from 'node:child_process';

/**
 * Runs Jest in a process of its own.
 *
 * @param {readonly string[]} args of its command line
 * @returns {Promise<number>} its exit status
 */
export function jest(args) {
  const running = spawn(
    process.execPath,
    [
      '--experimental-vm-modules',
      '--no-warnings=ExperimentalWarning',
      'node_modules/jest/bin/jest.js',
      ...args,
    ],
    { stdio: 'inherit' },
  );
  // Ctrl-C reaches Jest as well; its status is this script's.
  process.on('SIGINT', () => undefined);
  return new Promise((resolve, reject) => {
    running.on('error', reject);
    running.on('exit', (code) => resolve(code ?? 1));
  });
}
