import { Injectable } from '@nestjs/common';
import type { Page } from '../../http/envelope.js';
import { errors } from '../../http/errors.js';
import { ReadPool } from '../../database/read-pool.js';
import { ParameterValues } from '../../database/statement.js';
import { InvalidValue } from '../../http/parameters/declared-parameters.js';
import { identifierOf, nameOf, tableOf } from '../../resource/resource.js';
import { type ScopeClient, scopeOf } from '../../resource/scope.js';
import { selectedRelated, selection } from '../../resource/selection.js';
import type { ObjectLookup } from '../listing/listing.js';
import { readIdentifier } from '../query/parameters.js';
import { and } from '../condition/print.js';
import { scopeConditions, visibleIn, visibleRelated } from '../listing/scope.js';
import { shownFields } from '../listing/shown-fields.js';
import { PreparedStatements } from '../statement/prepared-statements.js';
import { UnavailableResources } from './unavailable-resources.js';
import { UnscopedReads } from './unscoped-reads.js';

/** Reads single objects. */
@Injectable()
export class ObjectReader {
  constructor(
    private readonly reads: ReadPool,
    private readonly statements: PreparedStatements,
    private readonly unscoped: UnscopedReads,
    private readonly unavailable: UnavailableResources,
  ) {}

  /**
   * Reads an object, as a page with one object.
   *
   * @param client who sees it; absent: nothing that it shows has a scope
   * @throws ApiError `-2` while what it shows is loaded, `-22` for what cannot be an identifier of its type, `-26` for
   * a number out of its range, `-31` if the client sees no such object
   */
  async read({ repository, identifier, query }: ObjectLookup, client?: ScopeClient): Promise<Page> {
    const { metadata } = repository;
    const { propertyName, databaseName, type } = identifierOf(metadata);
    const key = readIdentifier(type, identifier);
    if (key instanceof InvalidValue) throw key.toError(propertyName);
    const fields = shownFields(metadata, query, client?.rights);
    const shown = [metadata, ...selectedRelated(metadata, fields).map(([each]) => each.metadata)];
    this.unavailable.checkObjects(shown.map(nameOf));
    await this.unscoped.checkFields(metadata, fields);
    const values = new ParameterValues([key]);
    const where = and(
      `WHERE object."${databaseName}" = $1`,
      ...visibleIn(metadata, scopeConditions(metadata, client), values),
    );
    const text = `SELECT row_to_json("#found")::text AS object FROM (
      SELECT ${selection(metadata, fields, visibleRelated(client, values))}
      FROM ${tableOf(metadata)} object ${where}
    ) "#found"`;
    const keep = fields === undefined ? 'always' : 'if frequent';
    const found = this.statements.of(metadata, text, shown.some(scopeOf) ? 'never' : keep);
    const [row] = await this.reads.rows<{ object: string }>(found, values.values);
    if (!row) throw errors.objectUnknown(nameOf(metadata), identifier);
    return { count: '1', objects: `[${row.object}]` };
  }
}
