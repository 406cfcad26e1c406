import { Injectable } from '@nestjs/common';
import type { Page } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { ReadPool } from '../database/read-pool.js';
import { IDENTIFIER_LENGTH, isTextOf } from '../resource/formats.js';
import { identifierOf } from '../resource/resource.js';
import { selection } from '../resource/selection.js';
import type { ObjectLookup } from './object-lookup.js';
import { StatementCache } from './statement-cache.js';

/** Reads single objects. */
@Injectable()
export class ObjectReader {
  constructor(
    private readonly reads: ReadPool,
    private readonly statements: StatementCache,
  ) {}

  /**
   * Reads an object, as a page with one object.
   *
   * @throws ApiError `-22` for an invalid identifier, `-31` if there is no such object
   */
  async read({ repository, identifier, query: { fields } }: ObjectLookup): Promise<Page> {
    const { metadata } = repository;
    const { propertyName, databaseName } = identifierOf(metadata);
    if (!isTextOf(identifier, 1, IDENTIFIER_LENGTH)) {
      throw errors.parameterInvalid(propertyName, `text of 1 to ${IDENTIFIER_LENGTH} characters`);
    }
    const statement = this.statements.get(
      metadata,
      'object',
      fields,
      () => `SELECT row_to_json("#found")::text AS object FROM (
      SELECT ${selection(metadata, fields)} FROM "${metadata.tableName}" object
      WHERE object."${databaseName}" = $1
    ) "#found"`,
    );
    const [found] = await this.reads.rows<{ object: string }>(statement, [identifier]);
    if (!found) throw errors.objectUnknown(metadata.tableName, identifier);
    return { count: '1', objects: `[${found.object}]` };
  }
}
