import { spawn } from 'node:child_process';

/**
 * The names of specs of whole processes: commands, the embedded server, the generator, browsers and deployments. They
 * take most of the time, and have a command of their own.
 */
export const SYSTEM = '\\.system\\.spec\\.ts$';

/**
 * Whether arguments of Jest name no spec and no test, and thus mean all of them.
 *
 * @param {readonly string[]} args
 */
export function isWhole(args) {
  return args.every((argument) => argument.startsWith('--'));
}

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
