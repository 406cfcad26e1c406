import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ClientOptions, ClientsService } from '../clients/clients.service.js';
import type { Project } from '../project.js';
import { withCatalogue } from './open-catalogue.js';

export function clientCommand(catalogue: Command, project: Project): void {
  const client = catalogue.command('client').description('manage clients');
  withRights(client.command('create'))
    .description('create a client')
    .option('--name <name>', 'a name for people, such as the company')
    .action((clientID: string, flags: ClientFlags, audit: Command) =>
      withClients(
        project,
        async (clients) => {
          await clients.create(clientID, optionsOf(flags));
          console.log(clientID);
        },
        audit,
      ),
    );
  client
    .command('list')
    .description('list the clients')
    .action(() => withClients(project, printClients));
  const update = withRights(client.command('update'));
  update
    .description('change what a client may do; takes effect within ten seconds')
    .action((clientID: string, flags: ClientFlags, audit: Command) => {
      if (Object.keys(flags).length === 0) update.error('error: name an option to change');
      return withClients(project, (clients) => clients.update(clientID, optionsOf(flags)), audit);
    });
  for (const [name, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    client
      .command(name)
      .description(`${name} a client; takes effect within ten seconds`)
      .argument('<clientID>')
      .action((clientID: string, _options: object, audit: Command) =>
        withClients(project, (clients) => clients.update(clientID, { disabled }), audit),
      );
  }
}

interface ClientFlags {
  readonly name?: string;
  readonly rateLimit?: number | 'default';
  readonly resources?: string[] | 'all';
  readonly hide?: string[];
  readonly public?: boolean;
}

/** Commander has no option whose value is null. */
function optionsOf({ name, rateLimit, resources, ...flags }: ClientFlags): ClientOptions {
  return {
    name,
    rateLimit: rateLimit === 'default' ? null : rateLimit,
    resources: resources === 'all' ? null : resources,
    hidden: flags.hide,
    isPublic: flags.public,
  };
}

/** Adds the identifier of a client, and what is set of it in the same way when it is created and later. */
function withRights(command: Command): Command {
  return command
    .argument('<clientID>')
    .option(
      '--rate-limit <n>',
      'requests per minute, 0 for no limit; default: RATE_LIMIT_PER_MINUTE',
      (value: string) => (value === 'default' ? value : wholeNumber(value)),
    )
    .option(
      '--resources <names>',
      'all the resources that it may read, such as products,brands; or all',
      (value: string, before: string[] | 'all' | undefined) =>
        value === 'all' || before === 'all' ? 'all' : [...(before ?? []), ...value.split(',')],
    )
    .option(
      '--hide <fields>',
      'all the fields that it does not see, such as products.price; or none',
      (value: string, before: string[] | undefined) =>
        value === 'none' ? (before ?? []) : [...(before ?? []), ...value.split(',')],
    )
    .option('--public', 'it needs no token, as in a page for browsers')
    .option('--no-public', 'it needs a token');
}

export function tokenCommand(catalogue: Command, project: Project): void {
  const token = catalogue.command('token').description('manage access tokens of clients');
  token
    .command('issue')
    .argument('<clientID>')
    .description('create a token and print it; it cannot be shown again')
    .addOption(
      new Option('--expires <time>', 'lifetime in days or hours, such as 90d or 12h, or never')
        .argParser(expiry)
        .default(expiry('90d'), '90d'),
    )
    .action((clientID: string, { expires }: { expires: number }, audit: Command) =>
      withClients(
        project,
        async (clients) => {
          const lifetime = expires === Infinity ? null : expires;
          const { tokenID, token, expiresAt } = await clients.issue(clientID, lifetime);
          console.error(
            `${tokenID} of ${clientID}, expires ${expiresAt?.toISOString() ?? 'never'}`,
          );
          console.log(token);
        },
        audit,
      ),
    );
  token
    .command('list')
    .description('list the tokens of a client')
    .argument('<clientID>')
    .action((clientID: string) =>
      withClients(project, async (clients) => {
        const rows = await clients.listTokens(clientID);
        print(
          ['tokenID', 'created', 'expires'],
          rows.map(({ tokenID, createdAt, expiresAt }) => [
            tokenID,
            createdAt,
            expiresAt ?? 'never',
          ]),
        );
      }),
    );
  token
    .command('revoke')
    .description('revoke a token; takes effect within ten seconds')
    .argument('<tokenID>')
    .action((tokenID: string, _options: object, audit: Command) =>
      withClients(project, (clients) => clients.revoke(tokenID), audit),
    );
}

/** @param audit as of `withDatabase` */
async function withClients(
  project: Project,
  work: (clients: ClientsService) => Promise<void>,
  audit?: Command,
): Promise<void> {
  const { ClientsService } = await import('../clients/clients.service.js');
  return withCatalogue(project, (catalogue) => work(catalogue.get(ClientsService)), { audit });
}

async function printClients(clients: ClientsService): Promise<void> {
  const rows = await clients.list();
  print(
    ['clientID', 'name', 'state', 'rate limit', 'token', 'resources', 'hidden'],
    rows.map(({ clientID, name, disabled, rateLimit, resources, hidden, isPublic }) => [
      clientID,
      name ?? '',
      disabled ? 'disabled' : 'enabled',
      rateLimit === null ? 'default' : String(rateLimit),
      isPublic ? 'public' : 'secret',
      resources?.join() ?? 'all',
      hidden.join() || 'none',
    ]),
  );
}

/** Parses an option that is a whole number of at most nine digits. */
function wholeNumber(value: string): number {
  if (!/^[0-9]{1,9}$/.test(value)) throw new InvalidArgumentError('It must be a whole number.');
  return Number(value);
}

/** Parses a lifetime into milliseconds; `Infinity` for `never`. */
function expiry(value: string): number {
  if (value === 'never') return Infinity;
  const [, count, unit] = /^([1-9][0-9]{0,4})([dh])$/.exec(value) ?? [];
  if (count === undefined)
    throw new InvalidArgumentError('It must be such as 90d or 12h, or never.');
  return Number(count) * (unit === 'd' ? 86_400_000 : 3_600_000);
}

/** Prints a header and rows as lines of tab-separated cells. */
function print(header: string[], rows: string[][]): void {
  for (const row of [header, ...rows]) console.log(row.join('\t'));
}
