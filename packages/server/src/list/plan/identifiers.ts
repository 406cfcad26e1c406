import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf } from '../../resource/resource.js';
import { sqlEach } from '../condition/print.js';
import { pageObjects } from '../statement/page-text.js';
import { stateOf } from '../statement/state.js';
import { rememberedCount } from './count-plans.js';
import type { PagePlan } from './plan.js';
import { knownIdentifiers } from './walk.js';

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
