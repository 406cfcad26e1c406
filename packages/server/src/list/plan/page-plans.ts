import { ParameterValues } from '../../database/statement.js';
import { hasOwnTable, identifierOf } from '../../resource/resource.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { selectedRelated } from '../../resource/selection.js';
import { scopeOf } from '../../resource/visibility.js';
import { sqlEach } from '../condition/print.js';
import { depthAt, pickedByOffset } from '../statement/picked-by-offset.js';
import {
  objectTable,
  pageObjects,
  pageText,
  type PageToRead,
  stateOf,
} from '../statement/page-statement.js';
import { knownIdentifiers, objectsAhead } from '../statement/known-lists.js';
import {
  anchorOf,
  pickedBehind,
  pickedBehindKey,
  pickedFromStart,
  type Picking,
} from '../statement/picked-objects.js';
import { plannedOnce, type Preparing } from '../statement/prepared-statements.js';
import { talliedPlace } from '../statement/tallied-place.js';
import { counted, countPlanOf, rememberedCount } from './count-plans.js';
import { pageOfFacet } from './page-of-facet.js';
import type { PagePlan, PageStatement } from './plan.js';
import { pickedBehindByRelevance, pickedByRelevance } from './relevance.js';

/**
 * Reads a list that is one facet in the order of the identifier. The tally has its count, and the range of the offset:
 * objects are skipped only within the range.
 */
const facet: PagePlan = {
  name: 'facet',

  of({ matching: { metadata, facets = [] }, request, resources }) {
    const { after, fields, order } = request;
    const [first, ...others] = order;
    if (after !== undefined) return 'it goes on behind an object';
    // The statement is prepared. That of each client would differ.
    if (selectedRelated(metadata, fields).some(([related]) => scopeOf(related.metadata))) {
      return 'each client sees other related objects';
    }
    if (!hasOwnTable(metadata)) return 'the tally has no ranges of it';
    if (others.length > 0 || first?.direction !== 'ASC') return 'it has another order';
    const [one, ...more] = facets;
    if (!one || more.length > 0) return 'its conditions are not one facet';
    return pageOfFacet(metadata, one, request, resources);
  },
};

/** Reads the objects with identifiers that an earlier page of the list has found. It is planned once for each resource. */
export const identifiers: PagePlan = {
  name: 'identifiers',

  of({ matching: { metadata }, request, resources, known }) {
    const page = known && knownIdentifiers(known, request);
    if (!page) return 'no earlier page found its objects';
    const values = new ParameterValues();
    const { databaseName: identifier } = identifierOf(metadata);
    const type = sqlTypeOf(identifierOf(metadata));
    const visible = sqlEach(request.seen.scope, { metadata, values });
    const table = `(SELECT * FROM unnest(${values.add(page)}::${type}[])
      WITH ORDINALITY AS known("${identifier}", "#at"))`;
    // Lock order: table before tally.
    const text = `SELECT ${pageObjects(metadata, table, request, visible, values)} AS objects,
        ${values.add(known.count)}::text AS count, NULL AS key, NULL AS ahead,
        ${values.add(page.at(-1))}::text AS last, ${values.add(String(page.length))}::text AS rows,
        'true' AS begun, ${stateOf(resources, metadata)}`;
    return {
      text,
      values: values.values,
      count: rememberedCount(known.count),
      prepare: request.fields === undefined && visible.length === 0 ? 'always' : 'never',
    };
  },
};

/** Reads on from where an earlier page of the list ended, whose last key is remembered. */
const behindPage: PagePlan = {
  name: 'behind-page',

  of(page) {
    const { known, request } = page;
    if (!known?.before) return 'no page is known that ended at the offset';
    const { before, count } = known;
    const ahead = objectsAhead(known, request.limit);
    const remembered = rememberedCount(count);
    return pickedPage(
      page,
      'never',
      remembered,
      (picking) => [...remembered.made(picking), ...pickedBehindKey(picking, before)],
      ahead,
    );
  },
};

/** Reads a list by relevance: see `pickedByRelevance`. */
const relevance: PagePlan = {
  name: 'relevance',

  of(page) {
    const { after, isByRelevance } = page.request;
    if (!isByRelevance) return 'in the order of columns';
    const count = countPlanOf(page);
    return pickedPage(page, 'never', count, (picking) => [
      ...count.made(picking),
      ...(after === undefined
        ? pickedByRelevance(picking, sqlOffset(page, picking.values))
        : pickedBehindByRelevance(picking, after)),
    ]);
  },
};

/** Reads on from the object that `after` names. */
const behindObject: PagePlan = {
  name: 'behind-object',

  of(page) {
    const { matching, request } = page;
    const { after, fields, isByRelevance, order } = request;
    if (after === undefined) return 'without after';
    if (isByRelevance) return 'by relevance';
    const count = countPlanOf(page);
    // There are too many variants of other pages.
    const isPrepared = matching.where === '' && fields === undefined && order.length <= 2;
    return pickedPage(page, isPrepared ? 'always' : 'never', count, (picking) => [
      ...count.made(picking),
      anchorOf(picking, after),
      pickedBehind(picking),
    ]);
  },
};

/** Reads on from the place of the offset, which the tally knows. */
const placed: PagePlan = {
  name: 'placed',

  of(page) {
    const { matching, request } = page;
    if (request.offset === 0) return 'the first page';
    const placeOf = talliedPlace(matching, request.order);
    if (!placeOf) return 'the tally has no place of the offset';
    return pickedPage(page, 'if frequent', { name: 'tally', unfit: [] }, (picking) => {
      const offset = sqlOffset(page, picking.values) ?? '0';
      const place = placeOf(offset, picking.values);
      const missing = `greatest(${offset} - ${place.valuedCount}, 0)`;
      return [...counted(place), pickedFromStart(picking, missing)];
    });
  },
};

/**
 * Reads the list in its order, from the nearer end, or collects the matching objects and sorts them: the statement takes
 * what costs less.
 */
const ordered: PagePlan = {
  name: 'ordered',

  of(page) {
    const count = countPlanOf(page);
    return pickedPage(page, 'if frequent', count, (picking) => {
      const depth = {
        ...depthAt(picking, sqlOffset(page, picking.values)),
        isCollected: count.name === 'collected',
      };
      return [...count.made(picking, depth), ...pickedByOffset(picking, depth)];
    });
  },
};

/** The plans of pages in the order in which they are tried. The last one fits any page. */
export const PAGE_PLANS: readonly PagePlan[] = [
  facet,
  identifiers,
  behindPage,
  relevance,
  behindObject,
  placed,
  ordered,
];

/**
 * The statement for a page. It finds the keys of the page first, from an index alone if that carries the columns of the
 * conditions, and reads only these objects. Its common table expressions are `object`, the table of the resource, those
 * that the plan picks by, and those of `pageText`.
 *
 * @param prepare `if frequent`: only if one plan serves all values; see `plannedOnce`
 * @param count the plan whose tables `pick` gives
 * @param pick gives the common table expressions up to `counted` and `picked`
 * @param ahead how many objects behind the page are looked up
 */
function pickedPage(
  page: PageToRead,
  prepare: Preparing,
  { name, unfit }: PageStatement['count'],
  pick: (picking: Picking) => readonly string[],
  ahead = 0,
): PageStatement {
  const { request, resources } = page;
  const planned = prepare === 'if frequent' ? plannedOnce(page) : undefined;
  const matching = planned ?? page.matching;
  const isPlannedOnce = planned !== undefined || prepare === 'always';
  const values = new ParameterValues(matching.values, isPlannedOnce);
  const picking: Picking = {
    ...matching,
    values,
    visible: sqlEach(request.seen.scope, { metadata: matching.metadata, values }),
    order: request.order,
    limit: sqlNumber(request.limit + ahead, values),
  };
  const tables = [objectTable(matching.metadata), ...pick(picking)];
  return {
    text: pageText(tables, picking, request, ahead, resources),
    values: values.values,
    count: { name, unfit },
    prepare: isPlannedOnce ? prepare : 'never',
  };
}

function sqlNumber(value: number, values: ParameterValues): string {
  return `(${values.addTyped(value, 'bigint')})`;
}

/** The offset of a page as a parameter; `undefined` for the first page. */
function sqlOffset({ request }: PageToRead, values: ParameterValues): string | undefined {
  return request.offset > 0 ? sqlNumber(request.offset, values) : undefined;
}
