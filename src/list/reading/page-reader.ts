import { Injectable } from '@nestjs/common';
import { errors } from '../../http/errors.js';
import { nameOf } from '../../resource/resource.js';
import { type KnownList, KnownLists, type KnownPlace } from '../statement/known-lists.js';
import { knownPageStatement } from '../statement/known-page.js';
import type { PageStatement, RequestedPage } from '../statement/page-request.js';
import { pageStatement } from '../statement/page-statement.js';
import type { VersionedPage } from './prepared-list.js';
import type { ReadRows } from './resolved-listing.js';
import { StatementCache } from '../statement/statement-cache.js';
import { onlyPage } from './versions.js';
import { knownIdentifiers, objectsAhead, placesBehind, placesBehindKnown } from './walk.js';

/** A row of `pageStatement`. */
interface FoundPage extends VersionedPage {
  readonly key: string | null;
  readonly ahead: string | null;
  readonly begun: string;
}

/** A page, and how it was read. */
interface Reading {
  readonly page: FoundPage;
  /** Whether the page is right only at the version of what was known. */
  readonly usesKnown: boolean;
  /** Whether it was read by known identifiers. */
  readonly isIdentified: boolean;
}

/** Reads pages of any list. Remembers counts, and where pages ended. */
@Injectable()
export class PageReader {
  constructor(
    private readonly known: KnownLists,
    private readonly statements: StatementCache,
  ) {}

  /** Reads a page of a list whose version does not tell every change. Nothing is remembered of it. */
  async readUnversioned(requested: RequestedPage, rows: ReadRows): Promise<VersionedPage> {
    return (await this.read(requested, rows)).page;
  }

  /**
   * Reads a page with what is known of its list. If that does not hold any more, reads it again without.
   *
   * @param list a key of the list: see `KnownLists`
   */
  async readVersioned(
    requested: RequestedPage,
    list: string,
    rows: ReadRows,
  ): Promise<VersionedPage> {
    const { resources, request } = requested;
    const { offset, limit, after, isByRelevance } = request;
    const known = this.known.get(resources, list, offset);
    const attempt = await this.read(requested, rows, known);
    const isExact = !attempt.usesKnown || attempt.page.version === known?.version;
    const { page, isIdentified } = isExact ? attempt : await this.read(requested, rows);
    const { version, count, key, ahead } = page;
    const read = { offset, limit, known: known?.version === version ? known : undefined };
    let places: KnownPlace[] = [];
    if (isIdentified) places = placesBehindKnown(read);
    else if (after === undefined && !isByRelevance) {
      places = placesBehind(read, count, key, ahead);
    }
    this.known.set(resources, list, { version, count }, places);
    return page;
  }

  /** @throws ApiError `-22` if the client sees no object with the identifier `after` */
  private async read(
    requested: RequestedPage,
    rows: ReadRows,
    known?: KnownList,
  ): Promise<Reading> {
    const { metadata, request, resources } = requested;
    const { offset, limit, after } = request;
    const identifiers = knownIdentifiers({ offset, limit, known });
    const build = (mayBePlannedOnce: boolean): PageStatement =>
      known && identifiers
        ? knownPageStatement(requested, identifiers, known.count)
        : pageStatement(requested, { known, ahead: objectsAhead(known, limit), mayBePlannedOnce });
    const planned = build(true);
    const statement = planned.isPlannedOnce
      ? this.statements.ofOnePlan(metadata, planned.statement)
      : planned.statement;
    // Planned each time, it is better planned for its values.
    const built = statement ? { ...planned, statement } : build(false);
    const page = onlyPage(await rows<FoundPage>(built.statement, built.values), resources);
    if (after !== undefined && page.begun === 'false') {
      throw errors.objectUnknown(nameOf(metadata), after);
    }
    return { page, usesKnown: built.usesKnown, isIdentified: identifiers !== undefined };
  }
}
