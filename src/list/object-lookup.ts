import type { ObjectLiteral, Repository } from 'typeorm';
import type { ObjectQueryDto } from './list-query.dto.js';

/** One object as a handler describes it. Nothing has been read yet. */
export class ObjectLookup {
  constructor(
    readonly repository: Repository<ObjectLiteral>,
    readonly identifier: string,
    readonly query: Readonly<Pick<ObjectQueryDto, 'fields'>>,
  ) {}
}

/** The object of an entity with an identifier; `-31` where there is none. */
export function objectOf<Entity extends ObjectLiteral>(
  repository: Repository<Entity>,
  identifier: string,
  query: ObjectQueryDto,
): ObjectLookup {
  return new ObjectLookup(repository, identifier, query);
}
