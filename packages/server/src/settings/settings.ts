import { isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import { CommandError } from '../command-error.js';
import { readTextFile } from './env-file.js';

/** Reads the variables of an environment. */
class Environment {
  constructor(private readonly variables: NodeJS.ProcessEnv) {}

  /** @throws CommandError for an invalid variable; the message names it */
  protected read<T>(name: string, { expected, read }: VariableType<T>): T | undefined {
    const value = this.variables[name];
    // An empty variable counts as unset: compose files and shells pass unset variables this way.
    if (value === undefined || value === '') return undefined;
    const result = read(value);
    if (result === undefined) throw new CommandError(`${name} must be ${expected}`);
    return result;
  }

  /**
   * Reads a variable with a password, or the file that `<name>_FILE` names, without the end of its last line.
   *
   * @throws CommandError for an invalid value, for both, or for a file that cannot be read
   */
  protected readSecret<T>(name: string, type: VariableType<T>): T | undefined {
    const fileName = `${name}_FILE`;
    const path = this.read(fileName, text);
    if (path === undefined) return this.read(name, type);
    if (this.read(name, text) !== undefined) {
      throw new CommandError(`${name} and ${fileName} must not both be set`);
    }
    const secret = readTextFile(path, fileName);
    if (secret === undefined) throw new CommandError(`${fileName} cannot be read: ENOENT`);
    const line = secret.replace(/\r?\n$/, '');
    // A URL would lose the end of a line.
    const value = /\p{Cc}/u.test(line) ? undefined : type.read(line);
    if (value === undefined) throw new CommandError(`${fileName} must contain ${type.expected}`);
    return value;
  }
}

/** The settings of the service, each from one environment variable. */
export class Settings extends Environment {
  readonly port = this.read('PORT', integer(0, 65_535)) ?? 3000;
  /** `undefined`: the embedded database in `dataDir`. */
  readonly databaseUrl = this.readSecret('DATABASE_URL', postgresUrl);
  /** The port for health and metrics; `undefined`: the same as `port`. */
  readonly adminPort =
    this.read('ADMIN_PORT', integer(0, 65_535)) ?? (this.databaseUrl ? ADMIN_PORT : undefined);
  /** Streaming replicas of the database, which serve lists. */
  readonly replicaUrls = this.readSecret('DATABASE_REPLICA_URLS', postgresUrls) ?? [];
  /** Maximum age of the data that a replica serves, in milliseconds. */
  readonly maxReplicaLag = this.read('MAX_REPLICA_LAG_MS', integer(500, 2_147_483_647)) ?? 5000;
  readonly host = this.read('HOST', text) ?? (this.databaseUrl ? '::' : loopback());
  readonly dataDir = this.read('DATA_DIR', text) ?? '.data';
  /** The maximum of the parameter `limit`. */
  readonly maxLimit = this.read('MAX_LIMIT', integer(1, 100_000)) ?? 1000;
  /** Maximum duration of a query of a request, in milliseconds. */
  readonly queryTimeout = this.read('QUERY_TIMEOUT_MS', integer(1, 600_000)) ?? 5000;
  /** Maximum number of connections to each database server for requests. */
  readonly poolSize = this.read('POOL_SIZE', integer(1, 1000)) ?? 10;
  /** Maximum size of the page cache, in bytes; 0 for no cache. */
  readonly pageCache = (this.read('PAGE_CACHE_MB', integer(0, 65_536)) ?? 32) * 1024 * 1024;
  /** Requests per minute of a client without a limit of its own; 0 for no limit. */
  readonly rateLimit = this.read('RATE_LIMIT_PER_MINUTE', integer(0, 1_000_000_000)) ?? 600;
  /** Failed logins per minute from one address; 0 for no limit. */
  readonly failedLogins = this.read('FAILED_LOGINS_PER_MINUTE', integer(0, 1_000_000_000)) ?? 60;
  /** The Redis that counts requests for all instances; `undefined`: each instance counts its own. */
  readonly redisUrl = this.readSecret('REDIS_URL', redisUrl);
  /** Maximum number of requests in work for one client. */
  readonly maxRequestsPerClient =
    this.read('MAX_REQUESTS_PER_CLIENT', integer(1, 1_000_000)) ?? 10 * this.poolSize;
  /** Maximum number of whole lists at a time for one client. */
  readonly maxStreamsPerClient = this.read('MAX_STREAMS_PER_CLIENT', integer(1, 1000)) ?? 2;
  /** Milliseconds after which a whole list is aborted; 0 for no limit. */
  readonly streamTimeout = this.read('STREAM_TIMEOUT_MS', integer(0, 86_400_000)) ?? 600_000;
  /** The text search configuration of PostgreSQL whose dictionaries stem words; `simple` for none. */
  readonly searchLanguage = this.read('SEARCH_LANGUAGE', configuration) ?? 'simple';
  /** Milliseconds between the stop signal and the shutdown. The service is not ready meanwhile. */
  readonly drain = this.read('DRAIN_MS', integer(0, 600_000)) ?? 0;
  readonly logLevel = this.read('LOG_LEVEL', oneOf(LOG_LEVELS)) ?? 'info';
  /** Milliseconds after which a request of a client is logged as slow; 0 for never. */
  readonly slowList = this.read('SLOW_LIST_MS', integer(0, 600_000)) ?? 1000;
  /** The base URL of an OpenTelemetry collector; `undefined`: no traces. */
  readonly otlpEndpoint = this.read('OTEL_EXPORTER_OTLP_ENDPOINT', httpUrl);
  /** The origins whose pages may read responses, or `*` for all; empty: only the service's own. */
  readonly corsOrigins = this.read('CORS_ORIGINS', origins) ?? [];
  /** The setting `trust proxy` of Express: the number of proxies, or their addresses. */
  readonly trustProxy = this.read('TRUST_PROXY', proxies);

  /** @throws CommandError for the first invalid variable; the message names it */
  constructor(environment: NodeJS.ProcessEnv) {
    super(environment);
    if (this.port !== 0 && this.adminPort === this.port) {
      throw new CommandError(
        `ADMIN_PORT must differ from PORT; with DATABASE_URL its default is ${ADMIN_PORT}`,
      );
    }
    if (this.replicaUrls.length > 0 && this.databaseUrl === undefined) {
      throw new CommandError(
        'DATABASE_REPLICA_URLS must go with DATABASE_URL, whose replicas they are',
      );
    }
  }

  /** A copy with changes. */
  with(changes: Partial<Settings>): Settings {
    return Object.assign(Object.create(Settings.prototype) as Settings, this, changes);
  }
}

/** Origins as browsers send them, such as `https://shop.example.com`; or `*` for every origin. */
export type CorsOrigins = '*' | readonly string[];

/** The default with `DATABASE_URL`, because `PORT` may be public there. */
const ADMIN_PORT = 9090;

const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

/** The type of a variable. */
interface VariableType<T> {
  /** Completes the message `<name> must be`. */
  readonly expected: string;
  /** Returns `undefined` for an invalid text. */
  readonly read: (text: string) => T | undefined;
}

const text: VariableType<string> = { expected: 'text', read: (value) => value };

const configuration: VariableType<string> = {
  expected: 'a text search configuration of PostgreSQL, such as simple or english',
  read: (value) => (/^[a-z_][a-z0-9_]*(\.[a-z_][a-z0-9_]*)?$/.test(value) ? value : undefined),
};

function integer(minimum: number, maximum: number): VariableType<number> {
  return {
    expected: `an integer between ${minimum} and ${maximum}`,
    read: (value) => {
      const number = /^[0-9]+$/.test(value) ? Number(value) : NaN;
      return number >= minimum && number <= maximum ? number : undefined;
    },
  };
}

function oneOf<T extends string>(allowed: readonly T[]): VariableType<T> {
  return {
    expected: `one of ${allowed.join(', ')}`,
    read: (value) => allowed.find((name) => name === value),
  };
}

function isUrl(value: string): boolean {
  try {
    decodeURIComponent(new URL(value).href);
    return true;
  } catch {
    return false;
  }
}

/** The message never contains the value of a URL: it may have a password. */
function urlLike(example: string, pattern: RegExp): VariableType<string> {
  return {
    expected: `a URL such as ${example}`,
    read: (value) => (pattern.test(value) && isUrl(value) ? value : undefined),
  };
}

const POSTGRES = 'postgres://user:password@host:5432/database';
const postgresUrl = urlLike(POSTGRES, /^postgres(ql)?:\/\/./);
const redisUrl = urlLike('redis://user:password@host:6379/0', /^rediss?:\/\/[^/]+(\/[0-9]*)?$/);
const httpUrl = urlLike('http://collector:4318', /^https?:\/\/./);

/** The parts of a text between commas; `undefined` unless each of them is valid. */
function listOf(value: string, isValid: (part: string) => boolean): string[] | undefined {
  const parts = value.split(',').map((part) => part.trim());
  return parts.every(isValid) ? parts : undefined;
}

const postgresUrls: VariableType<string[]> = {
  expected: `URLs such as ${POSTGRES}, separated by commas`,
  read: (value) => listOf(value, (url) => postgresUrl.read(url) !== undefined),
};

/** A scheme, a host and a port other than that of the scheme. `URL` would take a wildcard for a host. */
const ORIGIN = /^https?:\/\/([a-z0-9._-]+|\[[0-9a-f:]+\])(:[0-9]+)?$/;

/** Only origins as browsers serialise them: any other would never be equal to one that is sent. */
const origins: VariableType<CorsOrigins> = {
  expected: 'origins such as https://shop.example.com separated by commas, or *',
  read: (value) =>
    value === '*'
      ? value
      : listOf(
          value,
          (part) => ORIGIN.test(part) && URL.canParse(part) && new URL(part).origin === part,
        ),
};

/** Names of networks that Express knows. */
const NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** Whether a text is an address, with the prefix length of a network of its family or without one, or such a name. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '1', ...more] = text.split('/');
  const longest = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const isPrefix = /^[1-9][0-9]*$/.test(bits) && Number(bits) <= longest;
  return NETWORKS.includes(text) || (isPrefix && more.length === 0);
}

const proxies: VariableType<number | string> = {
  expected: 'a number of proxies, or addresses and networks separated by commas',
  read: (value) =>
    /^[0-9]{1,3}$/.test(value) ? Number(value) : listOf(value, isNetwork)?.join(','),
};

/** The loopback address: that of IPv6 where there is none of IPv4. */
export function loopback(): string {
  const all = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const has = (sought: string): boolean => all.some(({ address }) => address === sought);
  return has('::1') && !has('127.0.0.1') ? '::1' : '127.0.0.1';
}
