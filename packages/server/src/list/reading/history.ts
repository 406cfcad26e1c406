import type { ReadPool } from '../../database/read-pool.js';
import { statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import type { VisibleListing } from '../visibility/visible-listing.js';
import { markOf, MarkedTime } from '../query/since.js';
import type { State } from './prepared-list.js';
import type { ReadRows } from './resolved-listing.js';

const HAS_HISTORY = statement('SELECT has_history($1, $2)::text AS has', { prepared: true });

/** Where a list is read, and a check of what was read. */
export interface Source {
  readonly reads: ReadPool;
  readonly inHistory: <Read extends State>(reading: Promise<Read>) => Promise<Read>;
}

/**
 * The changes since a time are read on the primary: only there the history of the database is known. So is what waits for
 * a change: a replica that is behind has another version as well, which its client may have seen change already.
 */
export function sourceOf(
  reads: ReadPool,
  { since }: Pick<VisibleListing, 'since'>,
  waits: boolean,
): Source {
  if (!since)
    return { reads: waits ? reads.of('primary first') : reads, inHistory: (reading) => reading };
  const ofPrimary = reads.of('primary');
  return {
    reads: ofPrimary,
    inHistory: async (reading) => {
      const read = await reading;
      await requireHistory((...query) => ofPrimary.rows(...query), since, read.until);
      return read;
    },
  };
}

/**
 * Checks that the database still has what a client has seen that asks for changes since a time.
 *
 * @param until of what was read after that, on the primary
 * @throws ApiError `-38` if commits that it has seen were lost in a failover or a restore; `-2` until the history
 * that begins then has its number
 */
export async function requireHistory(
  rows: ReadRows,
  since: Date,
  until: string | null,
): Promise<void> {
  // The first watermark is not known yet.
  if (until === null) return;
  const present = markOf(until);
  if (!present) throw errors.unavailable();
  if (!(since instanceof MarkedTime)) return;
  const { history, position } = since.mark;
  if (history === present.history && position <= present.position) return;
  const [row] = await rows<{ has: string }>(HAS_HISTORY, [history, position]);
  if (row?.has !== 'true') throw errors.historyLost();
}
