import { Injectable } from '@nestjs/common';
import { ParameterValues, statement } from '../../database/statement.js';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { selection } from '../../resource/selection.js';
import type { ScopeClient } from '../../resource/visibility.js';
import { Settings } from '../../settings/settings.js';
import type { Listing } from '../listing/listing.js';
import { isByRelevance, orderBy, totalOrder } from '../listing/order.js';
import { identifiers, PAGE_PLANS } from '../plan/page-plans.js';
import { firstFit, type PlanTaken } from '../plan/plan.js';
import { defaultLimit } from '../query/list-query.dto.js';
import {
  KnownLists,
  type KnownPlace,
  placesBehind,
  placesBehindKnown,
} from '../statement/known-lists.js';
import { matchingObjects, type PageRequest, type PageToRead } from '../statement/page-statement.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import { VisibleListing, visibleRelated } from '../visibility/visible-listing.js';
import { ListSources } from './list-sources.js';
import { readResolved, type ReadRows } from './resolved-listing.js';
import {
  type Explanation,
  listKeyOf,
  type PreparedList,
  type ReadPage,
  type VersionedPage,
} from './prepared-list.js';
import { onlyPage } from './versions.js';
import { wholeList } from './whole-list.js';

/** A row of the statement of a plan. */
interface FoundPage extends VersionedPage {
  /** Absent for a facet, like `ahead` and `begun`. */
  readonly key: string | null;
  readonly ahead: string | null;
  readonly begun: string;
}

/**
 * Reads lists. A page and the exact count of all matching objects come from one statement, so both
 * show the same snapshot, or from one snapshot and what is known of its version. Remembers counts, and where pages ended.
 */
@Injectable()
export class ListReader {
  constructor(
    private readonly settings: Settings,
    private readonly sources: ListSources,
    private readonly known: KnownLists,
    private readonly statements: PreparedStatements,
  ) {}

  /**
   * Builds the statements of a list.
   *
   * @param listing of its query, `offset` does not count beside `after`
   * @param prefersWait whether its request prefers to wait for a change
   * @throws as `ListSources.of`
   */
  prepare(listing: VisibleListing, prefersWait = false): PreparedList {
    const { query, fields, resources, repository, client, isVersioned, isPartial } = listing;
    const { reads, inHistory, page: ofSource } = this.sources.of(listing, prefersWait);
    const { offset = 0, after, limit = defaultLimit(this.settings), sort } = query;
    const order = totalOrder(repository.metadata, sort);
    const byRelevance = isByRelevance(sort);
    const page = { fields, order, isByRelevance: byRelevance, limit, offset, after };
    const request: PageRequest = { ...page, seen: listing };
    const matching = matchingObjects(listing, order);
    const { where, values } = matching;
    const ofList = [ofSource.resource, where, values, orderBy(order), byRelevance];
    const shown = new ParameterValues();
    // Tells the pages of two releases apart, too.
    const selected = selection(repository.metadata, fields, visibleRelated(client, shown));
    const read = <T>(work: (page: PageToRead, rows: ReadRows) => Promise<T>): Promise<T> =>
      readResolved(reads, listing, (resolved, rows) => {
        const found = resolved === listing ? matching : matchingObjects(resolved, order);
        return work({ request, resources, matching: found }, rows);
      });
    return {
      // Pages with the same objects have other tags.
      key: listKeyOf(ofList, selected, shown.values, limit, offset, after, isPartial),
      place: after === undefined ? { offset, limit } : { limit },
      isOfChanges: listing.since !== undefined,
      read: () => {
        const list = isVersioned ? listKeyOf(...ofList) : undefined;
        return inHistory(read((page, rows) => this.read(page, list, rows)));
      },
      explain: () => read(explainPage),
      whole: (format) => wholeList(reads, listing, matching, format),
      // Last: properties behind a spread take V8 ten microseconds.
      ...ofSource,
    };
  }

  /**
   * Reads the objects of a page, as a response has them: times, decimals and integers of 64 bits are texts. The
   * errors are those of `VisibleListing.of` and `prepare`.
   *
   * @param described its query may have any `limit`; 50 without one
   * @param client who sees it; absent: none of its resources has a scope
   */
  async objects(described: Listing, client?: ScopeClient): Promise<Record<string, unknown>[]> {
    const { objects } = await this.prepare(VisibleListing.of(described, client)).read();
    return JSON.parse(objects) as Record<string, unknown>[];
  }

  /**
   * Reads a page, with what is known of its list. If that does not hold any more, reads it again without.
   *
   * @param list a key of the list: see `KnownLists`. Absent: its version does not tell every change, so that nothing is
   * remembered of it
   */
  private async read(
    requested: PageToRead,
    list: string | undefined,
    rows: ReadRows,
  ): Promise<ReadPage> {
    if (list === undefined) return this.readOnce(requested, rows);
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
async function explainPage(page: PageToRead, read: ReadRows): Promise<Explanation> {
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
