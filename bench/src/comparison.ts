import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BARE, isOwn } from './contenders.js';
import { PROJECT } from './processes.js';
import type { Report, Results } from './report.js';
import { SCENARIOS } from './scenarios.js';

/** How much worse than in the measured run is said to be worse: noise is less, as a rule. */
const WORSE = 1.1;
const [FIRST_PAGE] = SCENARIOS;
const PLAIN_PAGE = 'plain page';

/**
 * Costs of the service as ratios, which runs on different machines share. A page or a mix: requests a second of the bare
 * handler's first page per those of the service. A list: milliseconds per those of a plain page.
 */
function costs({ measurements = [], lists = [], mixes = [] }: Results): Map<string, number> {
  const bare = measurements.find(
    ({ scenario, contender }) => scenario === FIRST_PAGE?.name && contender === BARE,
  );
  const own = <T extends { readonly contender: string }>(results: readonly T[]): T[] =>
    results.filter(({ contender }) => isOwn({ name: contender }));
  const plain = new Map(
    lists.filter(({ list }) => list === PLAIN_PAGE).map(({ contender, p50 }) => [contender, p50]),
  );
  return new Map([
    ...own([...measurements, ...mixes]).map(({ scenario, contender, perSecond }) => {
      return [
        `${scenario} / bare first page, ${contender}`,
        (bare?.perSecond ?? NaN) / perSecond,
      ] as const;
    }),
    ...own(lists).map(({ list, contender, p50 }) => {
      return [`${list} / plain page, ${contender}`, p50 / (plain.get(contender) ?? NaN)] as const;
    }),
  ]);
}

/** Compares results with those of the same number of products in `bench/measured`, line by line, worst first. */
export async function comparedToMeasured(results: Results): Promise<string[]> {
  const path = join(PROJECT, 'bench/measured/results.json');
  const report = JSON.parse(await readFile(path, 'utf8')) as Report;
  const measured = report.results.find(({ rows }) => rows === results.rows);
  if (!measured)
    return [`bench/measured/results.json has no ${results.rows} products to compare to`];
  const before = costs(measured);
  const changes = [...costs(results)]
    .map(([name, now]) => ({ name, now, was: before.get(name) ?? NaN }))
    .filter(({ now, was }) => Number.isFinite(now / was))
    .sort((a, b) => b.now / b.was - a.now / a.was);
  const isWorse = ({ now, was }: { now: number; was: number }): boolean => now / was > WORSE;
  return [
    '   now  measured  now / measured',
    ...changes.map((change) => {
      const figures = [change.now, change.was, change.now / change.was].map((figure) =>
        figure.toPrecision(3).padStart(8),
      );
      return `${figures.join(' ')}  ${change.name}${isWorse(change) ? '  WORSE' : ''}`;
    }),
    `${changes.filter(isWorse).length} of ${changes.length} cost over ${WORSE} of what was measured`,
  ];
}
