import { Injectable } from '@nestjs/common';
import { ReadPool } from '../../database/read-pool.js';
import { ParameterValues, statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf, tableOf } from '../../resource/resource.js';
import type { ScopeClient } from '../../resource/scope.js';
import { selection } from '../../resource/selection.js';
import { Settings } from '../../settings/settings.js';
import type { Listing } from '../listing/listing.js';
import { orderBy } from '../listing/order.js';
import { visibleRelated } from '../listing/scope.js';
import { COUNT_PLANS } from '../plan/count-plans.js';
import type { PagePlan, PageStatement, PlanTaken } from '../plan/page-plan.js';
import { planOf, PLANS } from '../plan/plans.js';
import { matchingObjects } from '../statement/matching-objects.js';
import type { PageToRead } from '../statement/page-request.js';
import { Dependencies } from './dependencies.js';
import { keyOf } from './key-of.js';
import { ListToRead } from './list-to-read.js';
import { LoadingResources } from './loading-resources.js';
import { PageReader } from './page-reader.js';
import type { PreparedList } from './prepared-list.js';
import { type ReadRows, readResolved } from './resolved-listing.js';
import { UnscopedReads } from './unscoped-reads.js';
import { Versions } from './versions.js';
import { wholeList } from './whole-list.js';
import { WithheldLists } from './withheld-lists.js';

/** A plan, and why it does not fit a page. */
interface UnfitPlan {
  readonly name: string;
  readonly reason: string;
}

/** How a page would be read now, if nothing of its list was remembered. */
export interface Explanation {
  readonly taken: PlanTaken;
  /** The plans of pages that were tried before the one that is taken. */
  readonly unfit: readonly UnfitPlan[];
  /** The ways to count that were tried before the one that is taken. */
  readonly uncounted: readonly UnfitPlan[];
  readonly statement: string;
  readonly values: readonly unknown[];
  /** What PostgreSQL did to run the statement, as lines. */
  readonly analysis: readonly string[];
}

/**
 * Reads lists. A page and the exact count of all matching objects come from one statement, so both
 * show the same snapshot, or from one snapshot and what is known of its version.
 */
@Injectable()
export class ListReader {
  constructor(
    private readonly settings: Settings,
    private readonly reads: ReadPool,
    private readonly versions: Versions,
    private readonly dependencies: Dependencies,
    private readonly withheld: WithheldLists,
    private readonly loading: LoadingResources,
    private readonly pages: PageReader,
    private readonly unscoped: UnscopedReads,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param client who sees it; absent: none of its resources has a scope
   * @throws ApiError `-2` while the lists of one of its resources are withheld, or one is loaded; `-22` for
   * `after` beside `offset`
   */
  prepare(described: Listing, client?: ScopeClient): PreparedList {
    const list = this.listToRead(described, client);
    const { listing, metadata, request, isPlain } = list;
    const { limit, offset, after } = request;
    const dependencies = () => this.dependenciesOf(list);
    const isVersioned = async (): Promise<boolean> => (await dependencies()).length === 0;
    return {
      ...this.pageOf(list, isVersioned),
      resource: nameOf(metadata),
      place: { limit, ...(after === undefined ? { offset } : {}) },
      isPlain,
      dependencies,
      isVersioned,
      state: () => this.versions.current(listing.resources),
      whole: (format) => wholeList(this.reads, listing, list.matching, format),
    };
  }

  /**
   * Reads the objects of a page, as a response has them: times, decimals and integers of 64 bits are texts. The
   * errors are those of `prepare`.
   *
   * @param described its query may have any `limit`; 50 without one
   */
  async objects(described: Listing, client?: ScopeClient): Promise<Record<string, unknown>[]> {
    const { objects } = await this.prepare(described, client).read();
    return JSON.parse(objects) as Record<string, unknown>[];
  }

  /** Says how a page is read, and reads it. The errors are those of `prepare`. */
  async explain(described: Listing, client?: ScopeClient): Promise<Explanation> {
    const list = this.listToRead(described, client);
    return readResolved(this.reads, list.listing, async (resolved, rows) => {
      const page = pageOf(list, resolved);
      const plan = planOf(page);
      const built = plan.statement(page, 'if frequent');
      const taken = { name: plan.name, count: built.count };
      const unfit = unfitBefore(PLANS, taken.name, page);
      const uncounted = unfitBefore(COUNT_PLANS, taken.count, page);
      return analysed(built, { taken, unfit, uncounted }, rows);
    });
  }

  private listToRead(described: Listing, client: ScopeClient | undefined): ListToRead {
    const list = new ListToRead(described, client, this.settings);
    const { query, resources } = list.listing;
    this.withheld.check(resources);
    this.loading.check(resources);
    if (query.after !== undefined && query.offset !== undefined) {
      throw errors.parameterInvalid('after', 'given without offset');
    }
    return list;
  }

  /** See `PreparedList.dependencies`. */
  private async dependenciesOf(list: ListToRead): Promise<readonly string[]> {
    if (list.isPlain) return [];
    const { described, listing, metadata, client, unversioned } = list;
    await this.unscoped.checkFields(metadata, listing.fields);
    await this.unscoped.checkFilters(described);
    if (unversioned.length > 0) return unversioned;
    const { where, values: sent } = list.matching;
    const values = new ParameterValues(sent);
    const shown =
      list.isComputed || list.scopedRelated.length > 0
        ? selection(metadata, listing.fields, visibleRelated(client, values))
        : 'count(*)';
    const text = `SELECT ${shown} FROM ${tableOf(metadata)} object ${where}`;
    return this.dependencies.find(listing.resources, { text, values: values.values });
  }

  private pageOf(
    list: ListToRead,
    isVersioned: () => Promise<boolean>,
  ): Pick<PreparedList, 'key' | 'read'> {
    const { listing, metadata, request, matching } = list;
    const { fields, order, isByRelevance, limit, offset, after } = request;
    const ofList = [
      nameOf(metadata),
      matching.where,
      matching.values,
      orderBy(order),
      isByRelevance,
    ];
    const shown = new ParameterValues();
    const visible = list.scopedRelated.map(visibleRelated(listing.client, shown));
    return {
      key: keyOf(ofList, fields, visible, shown.values, limit, offset, after),
      read: async () => {
        const listKey = (await isVersioned()) ? () => keyOf(...ofList) : undefined;
        return readResolved(this.reads, listing, (resolved, rows) =>
          this.pages.read(pageOf(list, resolved), listKey, rows),
        );
      },
    };
  }
}

/** @param resolved the list with identifiers in place of queries */
function pageOf({ listing, request, matching }: ListToRead, resolved: Listing): PageToRead {
  return {
    request,
    resources: listing.resources,
    matching: resolved === listing ? matching : matchingObjects(resolved, request.order),
  };
}

/** The plans of a table before the one with a name. */
function unfitBefore(
  plans: readonly Pick<PagePlan, 'name' | 'unfit'>[],
  taken: string,
  page: PageToRead,
): UnfitPlan[] {
  const before = plans.slice(
    0,
    plans.findIndex(({ name }) => name === taken),
  );
  return before.map(({ name, unfit }) => ({ name, reason: unfit(page) ?? '' }));
}

/** Runs the statement of a page to see what PostgreSQL does. */
async function analysed(
  { text, values }: Pick<PageStatement, 'text' | 'values'>,
  choice: Pick<Explanation, 'taken' | 'unfit' | 'uncounted'>,
  read: ReadRows,
): Promise<Explanation> {
  const analysing = statement(`EXPLAIN (ANALYZE, BUFFERS) ${text}`, { prepared: false });
  const rows = await read<{ 'QUERY PLAN': string }>(analysing, values);
  return { ...choice, statement: text, values, analysis: rows.map((row) => row['QUERY PLAN']) };
}
