import type { ObjectLiteral, Repository } from 'typeorm';
import type { ObjectQueryDto } from './list-query.dto.js';

/** One object that a handler returns. Nothing has been read yet. */
export class ObjectLookup {
  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly identifier: string,
    readonly query: Readonly<Pick<ObjectQueryDto, 'fields'>>,
  ) {}
}

/** Describes the object of an entity with an identifier. The response is `-31` if it does not exist. */
export function objectOf<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  identifier: string,
  query: ObjectQueryDto,
): ObjectLookup {
  return new ObjectLookup(repository, identifier, query);
}
