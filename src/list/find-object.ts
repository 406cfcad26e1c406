import type { ObjectLiteral, Repository } from 'typeorm';
import { run } from '../database/statement.js';
import type { Page } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { IDENTIFIER_LENGTH, isTextOf } from '../resource/formats.js';
import { keptStatement } from './kept-statement.js';
import type { ObjectQueryDto } from './list-query.dto.js';
import { identifierOf } from '../resource/resource.js';
import { selection } from '../resource/selection.js';

/** The one object with an identifier, as a page of one; `-31` where there is none. */
export async function findObject<Entity extends ObjectLiteral>(
  { metadata, manager }: Repository<Entity>,
  identifier: string,
  { fields }: ObjectQueryDto,
): Promise<Page> {
  const { propertyName, databaseName } = identifierOf(metadata);
  if (!isTextOf(identifier, 1, IDENTIFIER_LENGTH)) {
    throw errors.parameterInvalid(propertyName, `text of 1 to ${IDENTIFIER_LENGTH} characters`);
  }
  const statement = keptStatement(
    metadata,
    'object',
    fields,
    () => `SELECT row_to_json("#found")::text AS object FROM (
      SELECT ${selection(metadata, fields)} FROM "${metadata.tableName}" object
      WHERE object."${databaseName}" = $1
    ) "#found"`,
  );
  const [found] = await run<{ object: string }>(manager.dataSource, statement, [identifier]);
  if (!found) throw errors.objectUnknown(metadata.tableName, identifier);
  return { count: '1', objects: `[${found.object}]` };
}
