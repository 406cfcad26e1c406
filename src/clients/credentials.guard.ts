import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import type { CatalogueRequest } from '../http/catalogue-request.js';
import { errors } from '../http/errors.js';
import { type KnownClient, KnownClients } from './known-clients.js';
import { hashOf, sameHash } from './token.js';

/** What a client's identifier may be made of, so that a header can carry it. */
export const CLIENT_ID = /^[\x21-\x7e]{1,100}$/;

/** Lets in who shows a client's identifier and a token of that client, in the query or in headers. */
@Injectable()
export class CredentialsGuard implements CanActivate {
  constructor(private readonly clients: KnownClients) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<CatalogueRequest>();
    const bearer = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1];
    const header = request.headers['x-client-id'];
    const clientID = credential(request, 'clientID', header?.toString());
    const accessToken = credential(request, 'access_token', bearer);
    const { client, token } = await this.find(clientID, hashOf(accessToken));
    // Who has no token of the client learns nothing of it, not even that it exists.
    if (!client || !token) throw errors.credentialsInvalid().withHeaders(challenge);
    if (token.expiresAt && token.expiresAt.getTime() <= Date.now()) {
      throw errors.tokenExpired().withHeaders(challenge);
    }
    if (client.disabled) throw errors.clientDisabled();
    return true;
  }

  private async find(clientID: string, hash: Buffer): Promise<Found> {
    if (!CLIENT_ID.test(clientID)) return {};
    const known = match(await this.clients.find(clientID), hash);
    if (known.token) return known;
    // The token may be newer than what is known of the client.
    return match(await this.clients.findNow(clientID), hash);
  }
}

interface Found {
  client?: KnownClient;
  token?: KnownClient['tokens'][number];
}

/** Compares with every token of the client, so that the time taken does not tell which one fits. */
function match(client: KnownClient | undefined, hash: Buffer): Found {
  const [token] = client?.tokens.filter((candidate) => sameHash(candidate.hash, hash)) ?? [];
  return { client, token };
}

/** RFC 9110, section 11.6.1: a 401 says how to authenticate. */
const challenge = { 'WWW-Authenticate': 'Bearer realm="catalogue"' };

/** A credential from the one place where it was given. Of a repeated parameter the first counts. */
function credential(
  request: CatalogueRequest,
  name: 'clientID' | 'access_token',
  header: string | undefined,
): string {
  const query = request.parameters.find((parameter) => parameter.name === name)?.value;
  if (query !== undefined && header !== undefined) throw errors.credentialRepeated(name);
  const value = query ?? header ?? '';
  if (value === '') throw errors.credentialMissing(name).withHeaders(challenge);
  return value;
}
