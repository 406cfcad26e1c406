import type { ObjectLiteral, Repository } from 'typeorm';
import type { ObjectQueryDto } from '../query/list-query.dto.js';
import { requireEntity } from '../query/query-of.js';

/** One object that a handler returns. Nothing has been read yet. */
export class ObjectLookup {
  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly identifier: string,
    readonly query: Readonly<Pick<ObjectQueryDto, 'fields' | 'include'>>,
  ) {}
}

/**
 * Describes the object of an entity with an identifier. The response is `-31` if it does not exist.
 *
 * @throws WrongEntityError for a query class of another entity
 */
export function objectOf<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  identifier: string,
  query: ObjectQueryDto,
): ObjectLookup {
  requireEntity(query, repository.metadata.target);
  return new ObjectLookup(repository, identifier, query);
}
