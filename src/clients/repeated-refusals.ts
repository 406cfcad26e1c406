import type { ServerResponse } from 'node:http';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { SchemaDoubt } from '../database/schema-doubt.js';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { sendError } from '../http/envelope.js';
import { apiErrorOf } from '../http/error.filter.js';
import { errors } from '../http/errors.js';
import { isCredential } from '../http/parameters/credentials-query.dto.js';
import { ClientCache } from './client-cache.js';
import type { ClientRecord } from './client-reader.js';
import { ClientRequests } from './client-requests.js';
import { RateLimit } from './rate-limit.js';
import { hashOf } from './token.js';

/** Milliseconds after which a request passes all checks again; longer than its `Retry-After`. */
const LIFETIME = 2000;
const MAX_ENTRIES = 1000;

/** A request that passed every check before the limit of its client that refused it. */
interface Refused {
  readonly client: ClientRecord;
  /** The route that Express matched, for the log and the metrics. */
  readonly route: unknown;
  /** Whether the limit is still reached. Absent if the limit of requests in work refused it, which is checked for every entry. */
  readonly isStillFull: (() => boolean) | undefined;
  /** `Date.now()` value after which it passes the checks again. */
  readonly until: number;
}

/**
 * Refuses requests before Express that would be refused behind it, by a limit of their client. A client that
 * sends thousands of requests would otherwise occupy the event loop with the checks before this limit.
 *
 * Another request with the same credentials was refused in the last seconds, had the same path, and passed
 * all checks before the limit. These depend on nothing else: on the names of parameters for the limit of
 * requests in work, and on their values and `Accept` for that of whole lists. The client's record must still
 * be that of the cache, and the limit must still be reached. So a request gets the response that it would
 * get anyway, but for one from a guard or a handler that reads anything else, and for `-2` from a list that has
 * become unavailable within these seconds.
 */
@Injectable()
export class RepeatedRefusals {
  /** By the hash of what the checks depend on, which contains a token. */
  private readonly refused = new LRUCache<string, Refused>({ max: MAX_ENTRIES });
  private latest = -Infinity;

  constructor(
    private readonly clients: ClientCache,
    private readonly requests: ClientRequests,
    private readonly rateLimit: RateLimit,
    private readonly schemaDoubt: SchemaDoubt,
  ) {}

  /** Remembers a request that a limit of its client refused; see `CatalogueRequest.isStillFull`. */
  remember(request: CatalogueRequest): void {
    const { isStillFull } = request;
    const client = this.clients.current(request.client?.clientID ?? '');
    // Its record was replaced meanwhile.
    if (!client || client !== request.client) return;
    const now = Date.now();
    // With any of its tokens: which one the request has is not known here.
    const expiries = client.tokens.flatMap(({ expiresAt }) => expiresAt?.getTime() ?? []);
    const until = Math.min(now + LIFETIME, ...expiries.filter((expiry) => expiry > now));
    const key = isStillFull ? wholeKeyOf(request) : keyOf(request);
    this.refused.set(key, { client, route: request.route as unknown, isStillFull, until });
    this.latest = Math.max(this.latest, until);
  }

  /**
   * Refuses a request as it would be refused behind Express.
   *
   * @param share the part of the limit of requests in work that a client has while there are others, up to 1
   * @returns false, without a response, for any other request
   */
  refuse(request: CatalogueRequest, response: ServerResponse, share: number): boolean {
    const now = Date.now();
    if (now >= this.latest || this.schemaDoubt.isOpen) return false;
    const find = (key: string): Refused | undefined => {
      const found = this.refused.get(key);
      return found && now < found.until && this.isFull(found, share) ? found : undefined;
    };
    const refused = find(wholeKeyOf(request)) ?? find(keyOf(request));
    if (!refused) return false;
    const { client } = refused;
    Object.assign(request, { client, route: refused.route });
    this.rateLimit.admit(client, response).then(
      () => {
        sendError(response, errors.busy());
      },
      (error: unknown) => {
        sendError(response, apiErrorOf(error));
      },
    );
    return true;
  }

  private isFull({ client, isStillFull }: Refused, share: number): boolean {
    const { clientID } = client;
    if (this.clients.current(clientID) !== client) return false;
    return isStillFull?.() === true || !this.requests.hasRoom(clientID, share);
  }
}

/** What the checks before the limit of requests in work depend on. */
function keyOf(request: CatalogueRequest): string {
  return hashed(
    request,
    request.parameters.map(({ name, value }) => (isCredential(name) ? [name, value] : name)),
  );
}

/** What the checks before the limit of whole lists depend on. */
function wholeKeyOf(request: CatalogueRequest): string {
  const { accept, 'if-none-match': ifNoneMatch } = request.headers;
  return hashed(request, [
    accept,
    ifNoneMatch,
    request.parameters.map(({ name, value }) => [name, value]),
  ]);
}

function hashed(
  { method, url, headersDistinct: { authorization, 'x-client-id': identifiers } }: CatalogueRequest,
  more: unknown,
): string {
  const [path] = url.split('?', 1);
  const text = JSON.stringify([method, path, authorization, identifiers, more]);
  return hashOf(text).toString('latin1');
}
