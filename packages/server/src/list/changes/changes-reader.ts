import { type CanActivate, type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { InjectDataSource } from '@nestjs/typeorm';
import { LRUCache } from 'lru-cache';
import { isObservable, lastValueFrom } from 'rxjs';
import { DataSource, type EntityMetadata } from 'typeorm';
import type { CatalogueRequest } from '../../http/request.js';
import { type Endpoint, endpointsIn, instanceFor, pathParametersOf } from '../../http/endpoints.js';
import { errors } from '../../http/errors.js';
import {
  isAllowed,
  type ParameterSettings,
  settingsFor,
} from '../../http/parameters/declared-parameters.js';
import { ParameterValues } from '../../database/statement.js';
import { rulesOf } from '../../http/parameters/validation.js';
import { identifierOf, nameOf, ownResources } from '../../resource/resource.js';
import { Settings } from '../../settings/settings.js';
import { DeletionListing } from '../deletions/deletions.js';
import { sqlEach } from '../condition/print.js';
import { Listing } from '../listing/listing.js';
import { totalOrder } from '../listing/order.js';
import { listQueryOf } from '../query/query-of.js';
import type { ListQueryDto } from '../query/list-query.dto.js';
import { listKeyOf, type PreparedStream } from '../reading/prepared-list.js';
import { ListSources } from '../reading/list-sources.js';
import { ROW_WRITERS, type RowWriter } from '../reading/row-writer.js';
import { openingOf, type Part, partOf } from '../reading/whole-list.js';
import { matchingObjects } from '../statement/page-statement.js';
import { namesOf, VisibleListing } from '../visibility/visible-listing.js';
import type { ChangesQueryDto } from './changes-query.dto.js';
import { declaredBy } from '../../private-api/decorators.js';

/** Clients of which it is known when they were last answered. */
const MAX_CLIENTS = 1000;

/** A resource whose changes a client may read, with the endpoint of its list. */
interface Changing {
  readonly metadata: EntityMetadata;
  readonly list: Endpoint;
}

/** Reads what changed in several resources since a time, and what was deleted, from one snapshot. */
@Injectable()
export class ChangesReader {
  /** When clients were last answered, as `performance.now()`. */
  readonly answered = new LRUCache<string, number>({ max: MAX_CLIENTS });
  /** By the name of the resource. */
  private lists: ReadonlyMap<string, Changing> | undefined;

  constructor(
    @InjectDataSource() private readonly dataSource: DataSource,
    private readonly modules: ModulesContainer,
    private readonly settings: Settings,
    private readonly sources: ListSources,
  ) {}

  /**
   * Prepares the objects that changed, resource by resource, and then the deletions, in the reverse order: so that what
   * an object refers to is there, where resources are named before those that refer to them.
   *
   * @param context that of the request. The guards of each list apply
   * @throws ApiError `-15` for a resource that the client may not read, `-25` for a name that there is not; what a guard throws
   */
  async prepare(
    { resources, since, fields = [] }: ChangesQueryDto,
    context: ExecutionContext,
  ): Promise<PreparedStream> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const { client } = request;
    const bounds = settingsFor(this.settings, client);
    const changing = this.chosen(resources, bounds);
    const ofFields = fieldsByResource(fields, changing, bounds);
    const changed: VisibleListing[] = [];
    for (const { metadata, list } of changing) {
      if (!(await passesGuards(list, context))) throw notFor(nameOf(metadata));
      const asked = { fields: ofFields.get(nameOf(metadata)), updatedSince: since };
      const query = Object.assign(new list.query() as ListQueryDto, asked);
      const handler = await list.handlerFor(request);
      const described: unknown = await handler({ query });
      if (!(described instanceof Listing))
        throw new TypeError(`${list.name} answers with no list, so that it has no changes`);
      changed.push(VisibleListing.of(described, client));
    }
    const deleted = since
      ? changing.map(({ metadata }) =>
          VisibleListing.of(new DeletionListing(metadata, since), client),
        )
      : [];
    return this.preparedOf(changed, deleted.toReversed(), since);
  }

  private preparedOf(
    changed: readonly VisibleListing[],
    deleted: readonly VisibleListing[],
    since: Date | undefined,
  ): PreparedStream {
    const parts = [...changed.map(changedPart), ...deleted.map(deletedPart)];
    const listings = [...changed, ...deleted];
    const [first] = listings;
    if (!first) throw errors.forbidden('Changes are not for this client');
    // In one order, so that they share the look at their version with others.
    const resources = [...new Set(listings.flatMap((listing) => listing.resources))].sort();
    const all = {
      repository: first.repository,
      resources,
      isVersioned: listings.every(({ isVersioned }) => isVersioned),
      isPartial: listings.some(({ isPartial }) => isPartial),
      // Also all objects are read on the primary: only it gives the mark with which a client asks for the next changes.
      since: since ?? new Date(0),
    };
    const { reads, page } = this.sources.of(all, true);
    // Without the time, so that the entity tag of an answer is that of what the client has when it asks again.
    const key = listKeyOf('changes', resources, ...changed.flatMap(shownBy));
    return {
      ...page,
      isOfChanges: since !== undefined,
      whole: () => ({ key, open: openingOf(reads, parts, resources) }),
    };
  }

  /** @throws ApiError `-15`, `-25` */
  private chosen(names: readonly string[] | undefined, bounds: ParameterSettings): Changing[] {
    this.lists ??= this.all();
    const allowed = new Map(
      [...this.lists].filter(([, { list }]) => isAllowed(list.query, 'updatedSince', bounds)),
    );
    return [...(names ?? allowed.keys())].map((name) => {
      const each = allowed.get(name);
      if (each) return each;
      if (this.lists?.has(name) && !bounds.rights.mayRead(name)) throw notFor(name);
      throw unknown('resources', name, [...allowed.keys()]);
    });
  }

  /** The resources that have a table of the service, a list without required parameters, and times of changes. */
  private all(): Map<string, Changing> {
    const endpoints = endpointsIn(this.modules).filter(
      (each) => pathParametersOf(each).length === 0,
    );
    const resources = [...ownResources(this.dataSource)].flatMap(([name, metadata]) => {
      const query = listQueryOf(metadata.target as Type);
      const list = endpoints.find((each) => each.query === query);
      const isAsked = query && rulesOf(query).some(({ name }) => name === 'isDefined');
      const hasChanges = list && !isAsked && metadata.updateDateColumn;
      return hasChanges ? [[name, { metadata, list }] as const] : [];
    });
    return new Map(resources);
  }
}

/**
 * The named fields of each resource, with its identifier.
 *
 * @throws ApiError `-25`
 */
function fieldsByResource(
  fields: readonly string[],
  changing: readonly Changing[],
  { rights }: ParameterSettings,
): Map<string, readonly string[]> {
  const named = new Map<string, readonly string[]>();
  const known = new Set<string>();
  for (const { metadata } of changing) {
    const resource = nameOf(metadata);
    const all = rights.seen(metadata.target, namesOf(metadata));
    for (const name of all) known.add(`${resource}.${name}`);
    const chosen = all.filter((name) => fields.includes(`${resource}.${name}`));
    const { propertyName: identifier } = identifierOf(metadata);
    if (chosen.length > 0) named.set(resource, [...new Set([identifier, ...chosen])]);
  }
  const wrong = fields.find((name) => !known.has(name));
  if (wrong !== undefined) throw unknown('fields', wrong, [...known]);
  return named;
}

/** What a listing shows of which objects, whatever the time since which they have changed. */
function shownBy({ repository: { metadata }, fields, scope }: VisibleListing): unknown[] {
  const values = new ParameterValues();
  return [fields, sqlEach(scope, { metadata, values }), values.values];
}

function notFor(resource: string) {
  return errors.forbidden(`The resource ${resource} is not for this client`);
}

function unknown(parameter: string, name: string, allowed: readonly string[]) {
  return errors.nameUnknown(parameter, name.toWellFormed(), allowed.join(', '));
}

function changedPart(listing: VisibleListing): Part {
  return changePart(listing, `"object":' || row_to_json("#page")::text`);
}

function deletedPart(listing: VisibleListing): Part {
  const { propertyName } = identifierOf(listing.repository.metadata);
  return changePart(listing, `"deleted":' || to_json("#page"."${propertyName}")::text`);
}

/** @param rest of the text of a line behind the name of the resource, as SQL that begins within a text */
function changePart(listing: VisibleListing, rest: string): Part {
  const { metadata } = listing.repository;
  // No name of a resource has a quote.
  const text = `'{"resource":"${listing.resources[0] ?? ''}",${rest} || '}'`;
  const writer: RowWriter = {
    ...ROW_WRITERS.ndjson(metadata, undefined),
    select: (query) => `SELECT ${text} FROM (${query}) "#page"`,
  };
  return partOf(listing, matchingObjects(listing, totalOrder(metadata)), writer);
}

/**
 * Whether the guards of a list, those of its controller and of its handler, let a request pass. They are those of the module
 * of the controller, and get its class and its handler.
 */
async function passesGuards(
  { controller, method, moduleRef }: Endpoint,
  context: ExecutionContext,
): Promise<boolean> {
  const handler = Reflect.get(controller.prototype as object, method) as Handler;
  const ofList = Object.create(context, {
    getClass: { value: () => controller },
    getHandler: { value: () => handler },
  }) as ExecutionContext;
  for (const guard of [...guardsOf(controller), ...guardsOf(handler)]) {
    const instance =
      typeof guard === 'function'
        ? await instanceFor(moduleRef, guard, context.switchToHttp().getRequest<object>())
        : guard;
    const result = await instance.canActivate(ofList);
    if (!(isObservable(result) ? await lastValueFrom(result) : result)) return false;
  }
  return true;
}

type Handler = ReturnType<ExecutionContext['getHandler']>;

function guardsOf(target: Type<object> | Handler): (Type<CanActivate> | CanActivate)[] {
  return (declaredBy(target, 'guards') ?? []) as ReturnType<typeof guardsOf>;
}
