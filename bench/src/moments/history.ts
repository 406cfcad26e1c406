import type { Moment } from './tables.js';
import type { Commit } from './writers.js';

/** A round of a copy, or a look at one: what was seen, in nanoseconds of the clock of the machine. */
export interface Seen extends Moment {
  readonly process: string;
  readonly call: bigint;
  readonly return: bigint;
}

/** An operation as the checker reads it, in a line of JSON. */
export interface Operation {
  /** Operations of one history are checked together. */
  readonly history: string;
  readonly process: string;
  /** `begin`: the source is at `n`. `commit`: it goes from `n` - 1 to `n`. `read`: it is at `n`. `look`: never before a former one. */
  readonly f: 'begin' | 'commit' | 'read' | 'look';
  readonly n: number;
  /** Nanoseconds since the begin of the run. */
  readonly call: number;
  readonly return: number;
}

interface Run {
  readonly began: bigint;
  readonly ended: bigint;
  readonly commits: readonly Commit[];
  /** Rounds of copies. */
  readonly rounds: readonly Seen[];
  /** By copy, rounds and looks of others. */
  readonly looks: ReadonlyMap<string, readonly Seen[]>;
  /** When commits were lost. */
  readonly losses: readonly bigint[];
  /** The tokens of the commits that the source has at the end, by number. */
  readonly kept: ReadonlyMap<number, string>;
}

/**
 * The histories of a run: of the source and the rounds of all copies, and of the looks at each copy. A loss of commits ends
 * one, and the next begins with the last commit that was not lost.
 */
export function historiesOf(run: Run): Operation[] {
  const isKept = ({ n, token }: Moment): boolean => run.kept.get(n) === token;
  const since = (time: bigint): number => Number(time - run.began);
  const operations: Operation[] = [];
  /** The last commit before each history. */
  const bases = [0];
  for (const loss of run.losses) {
    const before = run.commits.filter((commit) => commit.call < loss && isKept(commit));
    bases.push(Math.max(0, ...before.map(({ n }) => n)));
  }
  const seen = new Set(run.rounds.map(({ token }) => token));
  const committed = new Map(run.commits.map(({ token, call }) => [token, call]));
  const historyOf = (
    each: Moment & { readonly call: bigint; readonly return?: bigint },
  ): number => {
    // What was lost was lost by the first loss after its commit, also if a copy has it for longer.
    const lost = isKept(each) ? undefined : committed.get(each.token);
    if (lost !== undefined) return run.losses.filter((loss) => loss < lost).length;
    // Who asked before a loss, and was answered after it with the commit that the next history begins with, is in that one.
    return run.losses.filter((loss, at) => {
      const base = bases[at + 1] ?? 0;
      if (each.return === undefined) return each.n > base || each.call > loss;
      return each.return > loss && (each.n >= base || each.call > loss);
    }).length;
  };
  const isKnown = (commit: Commit): boolean =>
    commit.return !== undefined || isKept(commit) || seen.has(commit.token);
  /** A later one was acknowledged, and has the number after this one. */
  const isImplied = (commit: Commit): boolean => {
    const beside = run.commits.filter((each) => historyOf(each) === historyOf(commit));
    const known = beside.filter(isKnown);
    return known.some(({ n }) => n > commit.n) && !known.some(({ n }) => n === commit.n);
  };
  const forked = bases.map((_, at) => `source ${at}`);
  forked.forEach((history, at) => {
    const n = bases[at] ?? 0;
    operations.push({ history, process: 'source', f: 'begin', n, call: -1, return: -1 });
  });
  for (const commit of run.commits) {
    // Nobody can say when one came into force that was not acknowledged: at any time until the end.
    if (!isKnown(commit) && !isImplied(commit)) continue;
    const { process, n } = commit;
    const history = forked[historyOf({ ...commit, return: undefined })] ?? '';
    const times = { call: since(commit.call), return: since(commit.return ?? run.ended) };
    operations.push({ history, process, f: 'commit', n, ...times });
  }
  const read = (each: Seen, f: 'read' | 'look', history: string): void => {
    const times = { call: since(each.call), return: since(each.return) };
    operations.push({ history, process: each.process, f, n: each.n, ...times });
  };
  for (const each of run.rounds) read(each, 'read', forked[historyOf(each)] ?? '');
  for (const [copy, all] of run.looks)
    for (const each of all) read(each, 'look', `${copy} ${historyOf(each)}`);
  return operations;
}
