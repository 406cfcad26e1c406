/**
 * `npm test`, and `npm run test:system` with `--system`: runs Jest with the arguments given, or by default every spec: the
 * former those of the service in one process, the latter those of whole processes.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';

/** The specs of whole processes: commands, the embedded server, the generator, browsers and deployments. */
const SYSTEM = '\\.system\\.spec\\.ts$';
/** Of these, those that compare response times or use up connections. */
const ALONE = 'test/(attacks/|deploy/overload)';
/** One more than processors, since many tests wait for a process or a timer. */
const WORKERS = `--maxWorkers=${availableParallelism() + 1}`;
const JEST = [
  '--experimental-vm-modules',
  '--no-warnings=ExperimentalWarning',
  'node_modules/jest/bin/jest.js',
];

const isSystem = process.argv[2] === '--system';
const given = process.argv.slice(isSystem ? 3 : 2);
const ofSystem = [
  [SYSTEM, ...given, WORKERS, '--testPathIgnorePatterns', ALONE],
  [ALONE, ...given, '--maxWorkers=1'],
];
const ofService = [[...given, WORKERS, '--testPathIgnorePatterns', SYSTEM]];
// Arguments that name no spec and no test mean all of them.
const isWhole = given.every((argument) => argument.startsWith('--'));
// Ctrl-C reaches Jest as well, whose status is that of this script.
process.on('SIGINT', () => undefined);
for (const args of isWhole ? (isSystem ? ofSystem : ofService) : [given]) {
  const running = spawn(process.execPath, [...JEST, ...args], { stdio: 'inherit' });
  const [status] = await once(running, 'exit');
  process.exitCode ||= status ?? 1;
}
