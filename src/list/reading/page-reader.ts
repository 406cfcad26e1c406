import { Injectable } from '@nestjs/common';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { identifiers } from '../plan/identifiers.js';
import type { PlanTaken } from '../plan/page-plan.js';
import { planOf } from '../plan/plans.js';
import { placesBehind, placesBehindKnown } from '../plan/walk.js';
import { KnownLists, type KnownPlace } from '../statement/known-lists.js';
import type { PageToRead } from '../statement/page-request.js';
import { StatementCache } from '../statement/statement-cache.js';
import type { ReadPage, VersionedPage } from './prepared-list.js';
import type { ReadRows } from './resolved-listing.js';
import { onlyPage } from './versions.js';

/** A row of the statement of a plan. */
interface FoundPage extends VersionedPage {
  readonly key: string | null;
  readonly ahead: string | null;
  readonly begun: string;
}

/** A page, and how it was read. */
interface Reading {
  readonly page: FoundPage;
  readonly taken: PlanTaken;
}

/** Reads pages of any list. Remembers counts, and where pages ended. */
@Injectable()
export class PageReader {
  constructor(
    private readonly known: KnownLists,
    private readonly statements: StatementCache,
  ) {}

  /** Reads a page of a list whose version does not tell every change. Nothing is remembered of it. */
  async readUnversioned(requested: PageToRead, rows: ReadRows): Promise<ReadPage> {
    const { page, taken } = await this.read(requested, rows);
    return { ...page, plan: taken };
  }

  /**
   * Reads a page with what is known of its list. If that does not hold any more, reads it again without.
   *
   * @param list a key of the list: see `KnownLists`
   */
  async readVersioned(requested: PageToRead, list: string, rows: ReadRows): Promise<ReadPage> {
    const { resources, request } = requested;
    const { offset, limit, after, isByRelevance } = request;
    const known = this.known.get(resources, list, offset);
    const attempt = await this.read({ ...requested, known }, rows);
    const isExact = attempt.taken.count !== 'remembered' || attempt.page.version === known?.version;
    const { page, taken } = isExact ? attempt : await this.read(requested, rows);
    const { version, count, key, ahead } = page;
    const read = { offset, limit, known: known?.version === version ? known : undefined };
    let places: KnownPlace[] = [];
    if (taken.name === identifiers.name) places = placesBehindKnown(read);
    else if (after === undefined && !isByRelevance) {
      places = placesBehind(read, count, key, ahead);
    }
    this.known.set(resources, list, { version, count }, places);
    return { ...page, plan: taken };
  }

  /** @throws ApiError `-22` if the client sees no object with the identifier `after` */
  private async read(requested: PageToRead, rows: ReadRows): Promise<Reading> {
    const { metadata, request, resources } = requested;
    const plan = planOf(requested);
    const planned = plan.statement(requested, true);
    const statement = planned.isPlannedOnce
      ? this.statements.ofOnePlan(metadata, planned.statement)
      : planned.statement;
    // Planned each time, it is better planned for its values.
    const built = statement ? { ...planned, statement } : plan.statement(requested, false);
    const page = onlyPage(await rows<FoundPage>(built.statement, built.values), resources);
    if (request.after !== undefined && page.begun === 'false') {
      throw errors.objectUnknown(nameOf(metadata), request.after);
    }
    return { page, taken: { name: plan.name, count: built.count } };
  }
}
