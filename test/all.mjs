/**
 * `npm test`: runs Jest with the arguments given, or by default every suite: first those that may share
 * the processor with others, then those that compare response times or use up connections.
 */
import { jest } from './jest.mjs';

const ALONE = 'test/((attacks|faults)/|deploy/overload)';

const given = process.argv.slice(2);
const runs =
  given.length > 0 ? [given] : [['--maxWorkers=100%', '--testPathIgnorePatterns', ALONE], [ALONE]];
for (const args of runs) {
  const status = await jest(args);
  process.exitCode ||= status;
}
