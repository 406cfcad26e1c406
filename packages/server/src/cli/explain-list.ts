import type { INestApplicationContext } from '@nestjs/common';
import { CommandError } from '../command-error.js';
import { type Endpoint, endpointsOf, paramsIn } from '../http/endpoints.js';
import { ApiError } from '../http/errors.js';
import { ClientCache } from '../clients/client-cache.js';
import { ParametersPipe, sentQuery } from '../http/parameters/validation.js';
import { parseTarget, type SentParameter } from '../http/request.js';
import { Listing } from '../list/listing/listing.js';
import { ListReader } from '../list/reading/list-reader.js';
import type { Explanation } from '../list/reading/prepared-list.js';
import { VisibleListing } from '../list/visibility/visible-listing.js';
import { checkEndpoint } from '../list/rights.guard.js';
import { rightsOf, type ScopeClient, UnknownClientError } from '../resource/visibility.js';
import { Settings } from '../settings/settings.js';

/**
 * Reads the page of a list, and says how, as lines.
 *
 * @param url path and query of a list, such as `/products?sort=-price`
 * @param clientID who asks for it; absent: the list must not depend on the client
 * @throws CommandError if it is no list, the client does not exist, or its request would be refused
 */
export async function explainList(
  application: INestApplicationContext,
  url: string,
  clientID?: string,
): Promise<string[]> {
  const target = parseTarget(url);
  if (target instanceof ApiError) {
    throw new CommandError(`${url} is no path and query of a list`);
  }
  const { path, parameters } = target;
  const client = clientID === undefined ? undefined : await clientOf(application, clientID);
  for (const endpoint of endpointsOf(application)) {
    const params = paramsIn(path, endpoint);
    if (!params) continue;
    try {
      const listing = await listingOf(application, endpoint, params, parameters, client);
      return linesOf(
        await application.get(ListReader).prepare(VisibleListing.of(listing, client)).explain(),
      );
    } catch (error) {
      if (error instanceof ApiError) throw new CommandError(`${error.errcode}: ${error.message}`);
      if (error instanceof UnknownClientError) {
        throw new CommandError(`${error.message}: name one with --client`);
      }
      throw error;
    }
  }
  throw new CommandError(`There is no list at ${path}`);
}

async function clientOf(
  application: INestApplicationContext,
  clientID: string,
): Promise<ScopeClient> {
  const client = await application.get(ClientCache).read(clientID);
  if (!client) throw new CommandError(`There is no client ${clientID}`);
  return client;
}

async function listingOf(
  application: INestApplicationContext,
  { query: metatype, handlerFor }: Endpoint,
  params: Record<string, string>,
  parameters: readonly SentParameter[],
  client: ScopeClient | undefined,
): Promise<Listing> {
  checkEndpoint(metatype, rightsOf(client));
  const sent = sentQuery(metatype, parameters, application.get(Settings), client);
  const values: unknown = await new ParametersPipe().transform(sent, { type: 'query', metatype });
  const handler = await handlerFor();
  const decoded = Object.entries(params).map(([name, part]) => [name, decodeURIComponent(part)]);
  const input = { query: values as object, params: Object.fromEntries(decoded) as typeof params };
  const result: unknown = await handler(input);
  if (result instanceof Listing) return result;
  throw new CommandError('Only a list that a handler describes by listOf can be explained');
}

function linesOf({ taken, unfit, uncounted, statement, values, analysis }: Explanation): string[] {
  return [
    `Plan: ${taken.name}, counted by ${taken.count}`,
    ...unfit.map(({ name, reason }) => `Not ${name}: ${reason}`),
    ...uncounted.map(({ name, reason }) => `Not counted by ${name}: ${reason}`),
    '',
    statement,
    '',
    `Values: ${JSON.stringify(values)}`,
    '',
    ...analysis,
  ];
}
