import type { ObjectLiteral, Repository } from 'typeorm';
import type { Page } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { selectFields } from './find-page.js';
import { IDENTIFIER_LENGTH, isTextOf } from './formats.js';
import type { ObjectQueryDto } from './list-query.dto.js';
import { identifierOf } from './resource.js';

/** The one object with an identifier, as a page of one; `-31` where there is none. */
export async function findObject<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  identifier: string,
  { fields }: ObjectQueryDto,
): Promise<Page> {
  const { metadata } = repository;
  const { propertyName } = identifierOf(metadata);
  if (!isTextOf(identifier, 1, IDENTIFIER_LENGTH)) {
    throw errors.parameterInvalid(propertyName, `text of 1 to ${IDENTIFIER_LENGTH} characters`);
  }
  const builder = repository
    .createQueryBuilder('object')
    .where(`object.${propertyName} = :identifier`, { identifier });
  selectFields(builder, metadata, fields);
  const [statement, parameters] = builder.getQueryAndParameters();
  const [found] = await repository.query<{ object: string }[]>(
    `SELECT row_to_json(found)::text AS object FROM (${statement}) found`,
    parameters as unknown[],
  );
  if (!found) throw errors.objectUnknown(metadata.tableName, identifier);
  return { count: '1', objects: `[${found.object}]` };
}
