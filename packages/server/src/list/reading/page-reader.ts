import { Injectable } from '@nestjs/common';
import { statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { identifiers, PAGE_PLANS } from '../plan/page-plans.js';
import { firstFit, type PlanTaken } from '../plan/plan.js';
import {
  KnownLists,
  type KnownPlace,
  placesBehind,
  placesBehindKnown,
} from '../statement/known-lists.js';
import type { PageToRead } from '../statement/page-request.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import type { Explanation, ReadPage, VersionedPage } from './prepared-list.js';
import type { ReadRows } from './resolved-listing.js';
import { onlyPage } from './versions.js';

/** A row of the statement of a plan. */
interface FoundPage extends VersionedPage {
  /** Absent for a facet, like `ahead` and `begun`. */
  readonly key: string | null;
  readonly ahead: string | null;
  readonly begun: string;
}

/** Reads pages of any list. Remembers counts, and where pages ended. */
@Injectable()
export class PageReader {
  constructor(
    private readonly known: KnownLists,
    private readonly statements: PreparedStatements,
  ) {}

  /**
   * Reads a page, with what is known of its list. If that does not hold any more, reads it again without.
   *
   * @param list a key of the list: see `KnownLists`. Absent: its version does not tell every change, so that nothing is
   * remembered of it
   */
  async read(requested: PageToRead, list: string | undefined, rows: ReadRows): Promise<ReadPage> {
    if (list === undefined) return this.readOnce(requested, rows);
    const { resources, request, matching } = requested;
    const { offset, limit, after, isByRelevance } = request;
    const known = this.known.get(resources, list, offset);
    const attempt = await this.readOnce({ matching, request, resources, known }, rows);
    const isExact = attempt.plan.count !== 'remembered' || attempt.version === known?.version;
    const page = isExact ? attempt : await this.readOnce(requested, rows);
    const { version, count, key, ahead, plan } = page;
    const read = { offset, limit, known: known?.version === version ? known : undefined };
    let places: KnownPlace[] = [];
    if (plan.name === identifiers.name) places = placesBehindKnown(read);
    else if (key && after === undefined && !isByRelevance) {
      places = placesBehind(read, count, key, ahead);
    }
    if (plan.count !== 'tally' || places.length > 0) {
      this.known.set(resources, list, { version, count }, places);
    }
    return page;
  }

  /** @throws ApiError `-31` if the client sees no object with the identifier `after` */
  private async readOnce(
    requested: PageToRead,
    rows: ReadRows,
  ): Promise<FoundPage & { plan: PlanTaken }> {
    const { matching, request, resources } = requested;
    const { metadata } = matching;
    const { name, made } = firstFit(PAGE_PLANS, requested);
    const statement = this.statements.of(metadata, made.text, made.prepare);
    const isFull = made.prepare === 'if frequent' && this.statements.isFull(metadata);
    if (isFull && !statement.prepared && !requested.isForValues) {
      // Planned each time, it is better planned for its values.
      return this.readOnce({ ...requested, isForValues: true }, rows);
    }
    const page = onlyPage(await rows<FoundPage>(statement, made.values), resources, metadata);
    if (request.after !== undefined && page.begun === 'false') {
      throw errors.objectUnknown(nameOf(metadata), request.after);
    }
    return Object.assign(page, { plan: { name, count: made.count.name } });
  }
}

/** Reads a page with nothing remembered of its list, and says how. */
export async function explainPage(page: PageToRead, read: ReadRows): Promise<Explanation> {
  const { name, made, unfit } = firstFit(PAGE_PLANS, page);
  const { text, values, count } = made;
  const analysing = statement(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, { prepared: false });
  const rows = await read<{ 'QUERY PLAN': string }>(analysing, values);
  return {
    taken: { name, count: count.name },
    unfit,
    uncounted: count.unfit,
    statement: text,
    values,
    analysis: rows.map((row) => row['QUERY PLAN']),
  };
}
