import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { CommandError } from '../command-error.js';
import { timeText } from '../resource/formats.js';
import { resourcesOf } from '../resource/resource.js';
import { AccessToken, Client } from './client.entity.js';
import { CLIENT_ID, hashOf, newToken } from './token.js';

/** What an operator sets of a client. */
export type ClientOptions = Partial<Omit<Client, 'clientID' | 'createdAt'>>;

/** A token as `catalogue token list` prints it. */
interface ListedToken {
  readonly tokenID: string;
  readonly createdAt: string;
  /** Null: it does not expire. */
  readonly expiresAt: string | null;
}

/** Management of clients and tokens by an operator. Errors are `CommandError`s of one line. */
@Injectable()
export class ClientsService {
  constructor(
    @InjectRepository(Client) private readonly clients: Repository<Client>,
    @InjectRepository(AccessToken) private readonly tokens: Repository<AccessToken>,
  ) {}

  /** @throws CommandError if the identifier is invalid or taken, or a right names what there is not */
  async create(clientID: string, options: ClientOptions): Promise<void> {
    if (!CLIENT_ID.test(clientID)) {
      throw new CommandError('A clientID must be 1 to 100 visible ASCII characters');
    }
    this.checkRights(options);
    const inserted = await this.clients
      .createQueryBuilder()
      .insert()
      .values({ clientID, ...options })
      .orIgnore()
      .returning('"clientID"')
      .execute();
    if ((inserted.raw as unknown[]).length === 0)
      throw new CommandError(`The client ${clientID} exists already`);
  }

  list(): Promise<Client[]> {
    return this.clients.find({ order: { clientID: 'ASC' } });
  }

  /**
   * Changes a client. Takes effect within ten seconds on every instance.
   *
   * @throws CommandError if the client does not exist, or a right names what there is not
   */
  async update(clientID: string, changes: ClientOptions): Promise<void> {
    this.checkRights(changes);
    const { affected } = await this.clients.update({ clientID }, changes);
    if (!affected) throw new CommandError(`There is no client ${clientID}`);
  }

  /**
   * Issues a token, which cannot be shown again: only its hash is stored.
   *
   * @param lifetime milliseconds, by the clock of the database, which also tells when they are over; null: no limit
   * @throws CommandError if the client does not exist
   */
  async issue(
    clientID: string,
    lifetime: number | null,
  ): Promise<{ tokenID: string; token: string; expiresAt: Date | null }> {
    await this.assertExists(clientID);
    const token = newToken();
    const tokenID = randomBytes(8).toString('hex');
    const [{ expiresAt }] = await this.tokens.query<[Pick<AccessToken, 'expiresAt'>]>(
      `INSERT INTO access_tokens ("tokenID", "clientID", hash, "expiresAt")
       VALUES ($1, $2, $3, now() + $4::float8 * interval '1 ms') RETURNING "expiresAt"`,
      [tokenID, clientID, hashOf(token), lifetime],
    );
    return { tokenID, token, expiresAt };
  }

  /** @throws CommandError if the client does not exist */
  async listTokens(clientID: string): Promise<ListedToken[]> {
    await this.assertExists(clientID);
    // JavaScript has neither each time of PostgreSQL, such as of the year 294276, nor `infinity`.
    return this.tokens.query<ListedToken[]>(
      `SELECT "tokenID", ${timeText('"createdAt"')} AS "createdAt", ${timeText('"expiresAt"')} AS "expiresAt"
       FROM access_tokens WHERE "clientID" = $1 ORDER BY access_tokens."createdAt", "tokenID"`,
      [clientID],
    );
  }

  /**
   * Takes effect within ten seconds on every instance.
   *
   * @throws CommandError if the token does not exist
   */
  async revoke(tokenID: string): Promise<void> {
    const { affected } = await this.tokens.delete({ tokenID });
    if (!affected) throw new CommandError(`There is no token ${tokenID}`);
  }

  /** What the rights of clients name and is not there any more, as lines. */
  async staleRights(): Promise<string[]> {
    return (await this.list()).flatMap((client) =>
      [...this.problemsOf(client)].map((problem) => `the client ${client.clientID}: ${problem}`),
    );
  }

  private checkRights(options: ClientOptions): void {
    const [problem] = this.problemsOf(options);
    if (problem !== undefined) throw new CommandError(problem);
  }

  private *problemsOf({ resources, hidden = [] }: ClientOptions): Generator<string> {
    const all = resourcesOf(this.clients.manager.dataSource);
    for (const name of resources ?? [])
      if (!all.has(name)) yield `There is no resource ${name}, only ${[...all.keys()].join(', ')}`;
    for (const name of hidden) {
      const [, resource = '', field = ''] = /^([^.]*)\.(.*)$/.exec(name) ?? [];
      const column = all.get(resource)?.findColumnWithPropertyName(field);
      if (!column) yield `There is no field ${name} to hide: name one as products.price`;
      else if (column.isPrimary) yield `${name} cannot be hidden: it identifies the objects`;
    }
  }

  /** @throws CommandError if there is no such client */
  private async assertExists(clientID: string): Promise<void> {
    if (!(await this.clients.existsBy({ clientID }))) {
      throw new CommandError(`There is no client ${clientID}`);
    }
  }
}
