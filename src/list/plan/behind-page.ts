import { pickedBehindKey } from '../statement/picked-objects.js';
import { remembered } from './count-plans.js';
import type { PagePlan } from './page-plan.js';
import { pickedPage } from './picked-page.js';
import { objectsAhead } from './walk.js';

/** Reads on from where an earlier page of the list ended, whose last key is remembered. */
export const behindPage: PagePlan = {
  name: 'behind-page',

  unfit: ({ known }) => (known?.before ? undefined : 'no page is known that ended at the offset'),

  statement(page) {
    const { known, request } = page;
    const { before } = known ?? {};
    if (!before) throw new TypeError('The page before is not known');
    return pickedPage(
      page,
      'never',
      remembered,
      (picking) => [...remembered.tables(page, picking), ...pickedBehindKey(picking, before)],
      objectsAhead(known, request.limit),
    );
  },
};
