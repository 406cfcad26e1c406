import { ParameterValues, statement } from '../../database/statement.js';
import { sqlTypeOf } from '../../resource/column-values.js';
import { identifierOf } from '../../resource/resource.js';
import { visibleIn } from '../listing/scope.js';
import { pageObjects } from './page-text.js';
import type { PageStatement, RequestedPage } from './page-request.js';
import { stateOf } from './state.js';

/**
 * The statement for the page of objects with identifiers, in their order, at the version at which they were
 * found. It is planned once for each resource.
 *
 * @param count of all matching objects
 */
export function knownPageStatement(
  { metadata, request, resources }: RequestedPage,
  identifiers: readonly string[],
  count: string,
): PageStatement {
  const { fields, seen } = request;
  const values = new ParameterValues();
  const { databaseName: identifier } = identifierOf(metadata);
  const type = sqlTypeOf(identifierOf(metadata));
  const visible = visibleIn(metadata, seen.scope, values);
  const found = `(SELECT * FROM unnest(${values.add(identifiers)}::${type}[])
    WITH ORDINALITY AS found("${identifier}", "#at"))`;
  // Lock order: table before tally.
  const text = `SELECT ${pageObjects(metadata, found, request, visible, values)} AS objects,
      ${values.add(count)}::text AS count, NULL AS key, NULL AS ahead,
      ${values.add(identifiers.at(-1))}::text AS last, ${values.add(String(identifiers.length))}::text AS rows,
      'true' AS begun, ${stateOf(resources)}`;
  const prepared = fields === undefined && visible.length === 0;
  return {
    statement: statement(text, { prepared }),
    values: values.values,
    usesKnown: true,
    isPlannedOnce: prepared,
  };
}
