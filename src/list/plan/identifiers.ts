import { ParameterValues } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf } from '../../resource/resource.js';
import { sqlEach } from '../condition/print.js';
import type { PageToRead } from '../statement/page-request.js';
import { pageObjects } from '../statement/page-text.js';
import { stateOf } from '../statement/state.js';
import { remembered } from './count-plans.js';
import type { PagePlan } from './page-plan.js';
import { knownIdentifiers } from './walk.js';

/** Reads the objects with identifiers that an earlier page of the list has found. It is planned once for each resource. */
export const identifiers: PagePlan = {
  name: 'identifiers',

  unfit: (page) => (identifiersOf(page) ? undefined : 'no earlier page found its objects'),

  statement(page) {
    const { matching, request, resources, known } = page;
    const { metadata } = matching;
    const found = identifiersOf(page) ?? [];
    const values = new ParameterValues();
    const { databaseName: identifier } = identifierOf(metadata);
    const type = sqlTypeOf(identifierOf(metadata));
    const visible = sqlEach(request.seen.scope, { metadata, values });
    const table = `(SELECT * FROM unnest(${values.add(found)}::${type}[])
      WITH ORDINALITY AS found("${identifier}", "#at"))`;
    // Lock order: table before tally.
    const text = `SELECT ${pageObjects(metadata, table, request, visible, values)} AS objects,
        ${values.add(known?.count)}::text AS count, NULL AS key, NULL AS ahead,
        ${values.add(found.at(-1))}::text AS last, ${values.add(String(found.length))}::text AS rows,
        'true' AS begun, ${stateOf(resources)}`;
    return {
      text,
      values: values.values,
      count: remembered.name,
      keep: request.fields === undefined && visible.length === 0 ? 'always' : 'never',
    };
  },
};

function identifiersOf({ known, request: { offset, limit } }: PageToRead) {
  return knownIdentifiers({ offset, limit, known });
}
