import { Injectable } from '@nestjs/common';
import { statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { COUNT_PLANS } from '../plan/count-plans.js';
import { facet } from '../plan/facet.js';
import { identifiers } from '../plan/identifiers.js';
import type { PagePlan, PlanTaken } from '../plan/page-plan.js';
import { planOf, PLANS } from '../plan/plans.js';
import { placesBehind, placesBehindKnown } from '../plan/walk.js';
import { KnownLists, type KnownPlace } from '../statement/known-lists.js';
import type { PageToRead } from '../statement/page-request.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import type { Explanation, ReadPage, UnfitPlan, VersionedPage } from './prepared-list.js';
import type { ReadRows } from './resolved-listing.js';
import { onlyPage } from './versions.js';

/** A row of the statement of a plan. */
interface FoundPage extends VersionedPage {
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
   * @param listKey makes a key of the list: see `KnownLists`. Absent: its version does not tell every change, so that
   * nothing is remembered of it
   */
  async read(
    requested: PageToRead,
    listKey: (() => string) | undefined,
    rows: ReadRows,
  ): Promise<ReadPage> {
    // The tally has all that could be remembered of a facet.
    if (facet.unfit(requested) === undefined) return this.readOnce(requested, rows, facet);
    if (!listKey) return this.readOnce(requested, rows);
    const list = listKey();
    const { resources, request } = requested;
    const { offset, limit, after, isByRelevance } = request;
    const known = this.known.get(resources, list, offset);
    const attempt = await this.readOnce({ ...requested, known }, rows);
    const isExact = attempt.plan.count !== 'remembered' || attempt.version === known?.version;
    const page = isExact ? attempt : await this.readOnce(requested, rows);
    const { version, count, key, ahead, plan } = page;
    const read = { offset, limit, known: known?.version === version ? known : undefined };
    let places: KnownPlace[] = [];
    if (plan.name === identifiers.name) places = placesBehindKnown(read);
    else if (after === undefined && !isByRelevance) {
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
    plan = planOf(requested),
  ): Promise<FoundPage & { plan: PlanTaken }> {
    const { matching, request, resources } = requested;
    const { metadata } = matching;
    let built = plan.statement(requested, 'if frequent');
    let statement = this.statements.of(metadata, built.text, built.keep);
    if (built.keep === 'if frequent' && !statement.prepared && this.statements.isFull(metadata)) {
      // Planned each time, it is better planned for its values.
      built = plan.statement(requested, 'never');
      statement = this.statements.of(metadata, built.text, 'never');
    }
    const page = onlyPage(await rows<FoundPage>(statement, built.values), resources);
    if (request.after !== undefined && page.begun === 'false') {
      throw errors.objectUnknown(nameOf(metadata), request.after);
    }
    return Object.assign(page, { plan: { name: plan.name, count: built.count } });
  }
}

/** Reads a page with nothing remembered of its list, and says how. */
export async function explainPage(page: PageToRead, read: ReadRows): Promise<Explanation> {
  const plan = planOf(page);
  const { text, values, count } = plan.statement(page, 'if frequent');
  const analysing = statement(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, { prepared: false });
  const rows = await read<{ 'QUERY PLAN': string }>(analysing, values);
  return {
    taken: { name: plan.name, count },
    unfit: unfitBefore(PLANS, plan.name, page),
    uncounted: unfitBefore(COUNT_PLANS, count, page),
    statement: text,
    values,
    analysis: rows.map((row) => row['QUERY PLAN']),
  };
}

/** The plans of a table before the one with a name. */
function unfitBefore(
  plans: readonly Pick<PagePlan, 'name' | 'unfit'>[],
  taken: string,
  page: PageToRead,
): UnfitPlan[] {
  const at = plans.findIndex(({ name }) => name === taken);
  return plans.slice(0, at).map(({ name, unfit }) => ({ name, reason: unfit(page) ?? '' }));
}
