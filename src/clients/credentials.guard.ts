import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { clientAddress } from '../http/client-address.js';
import { ApiError, errors } from '../http/errors.js';
import type { KnownClient } from './client-reader.js';
import { FailedLogins } from './failed-logins.js';
import { KnownClients } from './known-clients.js';
import { hashOf, sameHash } from './token.js';

/** What a client's identifier may be made of, so that a header can carry it. */
export const CLIENT_ID = /^[\x21-\x7e]{1,100}$/;

/** Lets in who shows a client's identifier and a token of that client, in the query or in headers. */
@Injectable()
export class CredentialsGuard implements CanActivate {
  constructor(
    private readonly clients: KnownClients,
    private readonly failedLogins: FailedLogins,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    // A connection that is closed later has no address any more.
    const address = clientAddress(request);
    try {
      request.client = await this.login(request, address);
      return true;
    } catch (error) {
      // A login that could not be checked is not refused, and its address is not logged.
      if (error instanceof ApiError && error.status < 500) request.failedLoginAddress = address;
      throw error;
    }
  }

  private async login(
    request: CatalogueRequest,
    address: string | undefined,
  ): Promise<KnownClient> {
    const { authorization = [], 'x-client-id': identifiers = [] } = request.headersDistinct;
    const bearers = authorization.flatMap((value) => /^Bearer +(\S+) *$/i.exec(value)?.[1] ?? []);
    const clientID = credential(request, 'clientID', identifiers);
    const accessToken = credential(request, 'access_token', bearers);
    const hash = hashOf(accessToken);
    const found = CLIENT_ID.test(clientID)
      ? await this.clients.find(clientID, (client) => withToken(client, hash))
      : undefined;
    // Who has no token of the client learns nothing of it, not even that it exists.
    if (!found) {
      throw this.failedLogins.count(address) ?? errors.credentialsInvalid().withHeaders(challenge);
    }
    const { client, token } = found;
    if (token.expiresAt && token.expiresAt.getTime() <= Date.now()) {
      throw errors.tokenExpired().withHeaders(challenge);
    }
    if (client.disabled) throw errors.clientDisabled();
    return client;
  }
}

/** Compares with every token of the client, so that the time taken does not tell which one fits. */
function withToken(client: KnownClient, hash: Buffer) {
  const [token] = client.tokens.filter((candidate) => sameHash(candidate.hash, hash));
  return token && { client, token };
}

/** RFC 9110, section 11.6.1: a 401 says how to authenticate. */
const challenge = { 'WWW-Authenticate': 'Bearer realm="catalogue"' };

/** A credential from the one place where it was given. Of a repeated parameter the first counts. */
function credential(
  request: CatalogueRequest,
  name: 'clientID' | 'access_token',
  headers: readonly string[],
): string {
  const query = request.parameters.find((parameter) => parameter.name === name)?.value;
  const [value = '', ...others] = query === undefined ? headers : [query, ...headers];
  if (others.length > 0) throw errors.credentialRepeated(name);
  if (value === '') throw errors.credentialMissing(name).withHeaders(challenge);
  return value;
}
