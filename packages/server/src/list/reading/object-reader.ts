import { Injectable } from '@nestjs/common';
import type { Page } from '../../http/envelope.js';
import { errors } from '../../http/errors.js';
import { ReadPool } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import { InvalidValue } from '../../http/parameters/declared-parameters.js';
import { identifierOf, nameOf, tableOf } from '../../resource/resource.js';
import { selection } from '../../resource/selection.js';
import { scopeOf } from '../../resource/visibility.js';
import { readIdentifier } from '../query/parameters.js';
import { requireDatabase } from '../query/query-of.js';
import { and, sqlEach } from '../condition/print.js';
import { type VisibleObject, visibleRelated } from '../visibility/visible-listing.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import { UnavailableResources } from './unavailable-resources.js';

/** Reads single objects. */
@Injectable()
export class ObjectReader {
  constructor(
    private readonly reads: ReadPool,
    private readonly statements: PreparedStatements,
    private readonly unavailable: UnavailableResources,
  ) {}

  /**
   * Reads an object, as a page with one object.
   *
   * @throws ApiError `-2` while what it shows is loaded, `-22` for what cannot be an identifier of its type, `-26` for
   * a number out of its range, `-31` if the client sees no such object
   */
  async read({ lookup, client, fields, entities, scope }: VisibleObject): Promise<Page> {
    const { repository, identifier } = lookup;
    const { metadata } = repository;
    requireDatabase(metadata, this.reads.dataSource);
    const { propertyName, databaseName, type } = identifierOf(metadata);
    const key = readIdentifier(type, identifier);
    if (key instanceof InvalidValue) throw key.toError(propertyName);
    this.unavailable.checkObjects(entities.map(nameOf));
    const values = new ParameterValues([key]);
    const where = and(
      `WHERE object."${databaseName}" = $1`,
      ...sqlEach(scope, { metadata, values }),
    );
    const text = `SELECT row_to_json("#found")::text AS object FROM (
      SELECT ${selection(metadata, fields, visibleRelated(client, values))}
      FROM ${tableOf(metadata)} object ${where}
    ) "#found"`;
    const prepare = fields === undefined ? 'always' : 'if frequent';
    const found = this.statements.of(metadata, text, entities.some(scopeOf) ? 'never' : prepare);
    const [row] = await this.reads.rows<{ object: string }>(found, values.values);
    if (!row) throw errors.objectUnknown(nameOf(metadata), identifier);
    return { count: '1', objects: `[${row.object}]` };
  }
}
