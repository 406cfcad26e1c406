/**
 * `npm test`, and `npm run test:system` with `--system`: runs Jest with the arguments given, or by default every spec: the
 * former those of the service in one process, the latter those of whole processes.
 */
import { availableParallelism } from 'node:os';
import { isWhole, jest, SYSTEM } from './jest.mjs';

/** Of the specs of processes, those that compare response times or use up connections. */
const ALONE = 'test/(attacks/|deploy/overload)';
/** One more than processors, since many tests wait for a process or a timer. */
const WORKERS = `--maxWorkers=${availableParallelism() + 1}`;

const isSystem = process.argv[2] === '--system';
const given = process.argv.slice(isSystem ? 3 : 2);
const ofSystem = [
  [SYSTEM, ...given, WORKERS, '--testPathIgnorePatterns', ALONE],
  [ALONE, ...given, '--maxWorkers=1'],
];
const ofService = [[...given, WORKERS, '--testPathIgnorePatterns', SYSTEM]];
const runs = isWhole(given) ? (isSystem ? ofSystem : ofService) : [given];
for (const args of runs) {
  const status = await jest(args);
  process.exitCode ||= status;
}
