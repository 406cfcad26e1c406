import { Injectable } from '@nestjs/common';
import type { Page } from '../http/envelope.js';
import { errors } from '../http/errors.js';
import { ReadPool } from '../database/read-pool.js';
import { InvalidValue } from '../http/parameters/invalid-value.js';
import { identifierOf } from '../resource/resource.js';
import { selection } from '../resource/selection.js';
import type { ObjectLookup } from './object-lookup.js';
import { readIdentifier } from './identifier-value.js';
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
   * @throws ApiError `-22` for what cannot be an identifier of its type, `-26` for a number out of its range,
   * `-31` if there is no such object
   */
  async read({ repository, identifier, query: { fields } }: ObjectLookup): Promise<Page> {
    const { metadata } = repository;
    const { propertyName, databaseName, type } = identifierOf(metadata);
    const key = readIdentifier(type, identifier);
    if (key instanceof InvalidValue) throw key.toError(propertyName);
    const statement = this.statements.get(
      metadata,
      'object',
      fields,
      () => `SELECT row_to_json("#found")::text AS object FROM (
      SELECT ${selection(metadata, fields)} FROM "${metadata.tableName}" object
      WHERE object."${databaseName}" = $1
    ) "#found"`,
    );
    const [found] = await this.reads.rows<{ object: string }>(statement, [key]);
    if (!found) throw errors.objectUnknown(metadata.tableName, identifier);
    return { count: '1', objects: `[${found.object}]` };
  }
}
