import { pickedBehindKey } from '../statement/picked-objects.js';
import { rememberedCount } from './count-plans.js';
import { pickedPage } from './picked-page.js';
import type { PagePlan } from './plan.js';
import { objectsAhead } from './walk.js';

/** Reads on from where an earlier page of the list ended, whose last key is remembered. */
export const behindPage: PagePlan = {
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
