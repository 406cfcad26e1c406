/**
 * `npm test`: runs Jest with the arguments given, or by default every suite: first those that may share
 * the processor with others, then those that compare response times or use up connections.
 */
import { availableParallelism } from 'node:os';
import { jest } from './jest.mjs';

const ALONE = 'test/(attacks/|deploy/overload)';
/** One more than processors, since many tests wait for a process or a timer. */
const WORKERS = availableParallelism() + 1;

const given = process.argv.slice(2);
const runs =
  given.length > 0
    ? [given]
    : [[`--maxWorkers=${WORKERS}`, '--testPathIgnorePatterns', ALONE], [ALONE]];
for (const args of runs) {
  const status = await jest(args);
  process.exitCode ||= status;
}
