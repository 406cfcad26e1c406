import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { type CatalogueRequest, sendsToken } from '../http/request.js';
import { clientAddress, keepAddress, networkOf } from '../http/client-limits.js';
import { SchemaDoubt } from '../database/schema-doubt.js';
import { ApiError, errors } from '../http/errors.js';
import { rightsOf } from '../resource/visibility.js';
import { Settings } from '../settings/settings.js';
import { ClientCache, type KnownClient } from './client-cache.js';
import { FixedWindows, limitExceeded } from './windows.js';
import { CLIENT_ID, hashOf, isSameHash } from './token.js';

interface Login {
  readonly client: KnownClient;
  /** `performance.now()` value until which its token is good. */
  readonly goodUntil: number;
}

/** Authenticates a request by `clientID` and a token of the client, in the query or in headers; a public one by `clientID` alone. */
@Injectable()
export class CredentialsGuard implements CanActivate {
  /** Counts failed logins per address and minute, in the memory of this instance. */
  private readonly failures = new FixedWindows();

  constructor(
    private readonly clients: ClientCache,
    private readonly settings: Settings,
    private readonly schemaDoubt: SchemaDoubt,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.authenticate(context.switchToHttp().getRequest<CatalogueRequest>());
    return true;
  }

  /**
   * Sets the client of a request.
   *
   * @throws ApiError `-10` to `-14` for its credentials, `-40` after too many wrong ones, `-2` if they cannot be checked
   */
  async authenticate(request: CatalogueRequest): Promise<void> {
    // Clients and objects may not have been restored yet.
    if (this.schemaDoubt.isOpen) throw errors.unavailable();
    keepAddress(request);
    try {
      request.client = await this.login(request);
    } catch (error) {
      // The address is logged for rejected credentials, not if they could not be checked.
      if (error instanceof ApiError && error.status < 500) {
        request.failedLoginAddress = clientAddress(request);
      }
      throw error;
    }
  }

  private async login(request: CatalogueRequest): Promise<KnownClient> {
    const { authorization = [], 'x-client-id': identifiers = [] } = request.headersDistinct;
    const bearers = authorization.flatMap((value) => /^Bearer +(\S+) *$/i.exec(value)?.[1] ?? []);
    const clientID = credential(request, 'clientID', identifiers);
    const pick = sendsToken(request)
      ? withToken(hashOf(credential(request, 'access_token', bearers)))
      : withoutToken;
    const found = CLIENT_ID.test(clientID) ? await this.clients.find(clientID, pick) : undefined;
    // An unknown client gets these errors, too, so that they do not reveal which clients exist.
    if (!found && pick === withoutToken) throw errors.credentialMissing('access_token');
    if (!found) {
      throw this.countFailure(clientAddress(request)) ?? errors.credentialsInvalid();
    }
    const { client, goodUntil } = found;
    // A time that cannot be read is NaN, and must refuse: so this is `!(now < …)`.
    if (!(performance.now() < goodUntil)) throw errors.tokenExpired();
    if (client.disabled) throw errors.clientDisabled();
    return client;
  }

  /** Counts a failed login of an address. Returns the error `-40` if it exceeds the limit. */
  private countFailure(address = ''): ApiError | undefined {
    const { failedLogins: limit } = this.settings;
    if (limit === 0) return undefined;
    const { count, milliseconds } = this.failures.count(networkOf(address));
    return count > limit ? limitExceeded(limit, milliseconds) : undefined;
  }
}

/** Compares with all tokens of the client, so that the time does not reveal which one matches. */
function withToken(sent: Buffer) {
  return (client: KnownClient): Login | undefined => {
    const [token] = client.tokens.filter(({ hash }) => isSameHash(hash, sent));
    return token && { client, goodUntil: token.goodUntil };
  };
}

/** The token of a public client is no secret, so that its identifier is enough. */
function withoutToken(client: KnownClient): Login | undefined {
  return rightsOf(client).isPublic ? { client, goodUntil: Infinity } : undefined;
}

/**
 * A credential from the query or from a header. The first of repeated query parameters counts.
 *
 * @throws ApiError `-10` if it is missing, `-14` if it is in both places
 */
function credential(
  request: CatalogueRequest,
  name: 'clientID' | 'access_token',
  headers: readonly string[],
): string {
  const query = request.parameters.find((parameter) => parameter.name === name)?.value;
  const [value = '', ...others] = query === undefined ? headers : [query, ...headers];
  if (others.length > 0) throw errors.credentialRepeated(name);
  if (value === '') throw errors.credentialMissing(name);
  return value;
}
