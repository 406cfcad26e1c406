import { isIP } from 'node:net';
import { CommandError } from '../command-error.js';

/** The settings of the service, each from one variable of the environment. */
export class Settings {
  readonly port: number;
  readonly host: string;
  /** Where health and metrics are served: 9090 by default on `databaseUrl`; undefined: at `port`. */
  readonly adminPort: number | undefined;
  /** Undefined: the embedded database of `dataDir`. */
  readonly databaseUrl: string | undefined;
  /** Its streaming replicas, from which lists are read. */
  readonly replicaUrls: readonly string[];
  /** Milliseconds that what a replica answers may be behind. */
  readonly maxReplicaLag: number;
  readonly dataDir: string;
  /** Most objects a list request may ask for. */
  readonly maxLimit: number;
  /** Milliseconds that a query of a request may run. */
  readonly queryTimeout: number;
  /** Most connections that the service keeps to its database. */
  readonly poolSize: number;
  /** Bytes of pages that the service keeps in memory; 0 for none. */
  readonly pageCache: number;
  /** Requests a minute of a client for which nothing else is set; 0 for no limit. */
  readonly rateLimit: number;
  /** Failed logins a minute of an address; 0 for no limit. */
  readonly failedLogins: number;
  /** The Redis that counts them for all instances; undefined: each counts for itself. */
  readonly redisUrl: string | undefined;
  /** Requests that one client may have in work at a time. */
  readonly maxRequestsPerClient: number;
  /** Lists that one client may read whole at a time. */
  readonly maxStreamsPerClient: number;
  /** Milliseconds after which a list that is sent whole is cut off; 0 for no limit. */
  readonly streamTimeout: number;
  /** Milliseconds that the service goes on listening, not ready any more, when it is told to stop. */
  readonly drain: number;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  /** How many proxies stand before the service, or which; as Express has it. */
  readonly trustProxy: number | string | undefined;

  /** Refuses the first variable that does not hold what it must, by name. */
  constructor(environment: NodeJS.ProcessEnv) {
    const read = reader(environment);
    this.port = read('PORT', integer(0, 65_535)) ?? 3000;
    this.databaseUrl = read('DATABASE_URL', postgresUrl);
    this.adminPort =
      read('ADMIN_PORT', integer(0, 65_535)) ?? (this.databaseUrl ? ADMIN_PORT : undefined);
    if (this.port !== 0 && this.adminPort === this.port) {
      throw new CommandError(
        `ADMIN_PORT must differ from PORT; with DATABASE_URL its default is ${ADMIN_PORT}`,
      );
    }
    this.replicaUrls = read('DATABASE_REPLICA_URLS', postgresUrls) ?? [];
    if (this.replicaUrls.length > 0 && this.databaseUrl === undefined) {
      throw new CommandError(
        'DATABASE_REPLICA_URLS must go with DATABASE_URL, whose replicas they are',
      );
    }
    this.maxReplicaLag = read('MAX_REPLICA_LAG_MS', integer(500, 2_147_483_647)) ?? 5000;
    this.host = read('HOST', text) ?? (this.databaseUrl ? '0.0.0.0' : '127.0.0.1');
    this.dataDir = read('DATA_DIR', text) ?? '.data';
    this.maxLimit = read('MAX_LIMIT', integer(1, 100_000)) ?? 1000;
    this.queryTimeout = read('QUERY_TIMEOUT_MS', integer(1, 600_000)) ?? 5000;
    this.poolSize = read('POOL_SIZE', integer(1, 1000)) ?? 10;
    this.pageCache = (read('PAGE_CACHE_MB', integer(0, 65_536)) ?? 32) * 1024 * 1024;
    this.rateLimit = read('RATE_LIMIT_PER_MINUTE', integer(0, 1_000_000_000)) ?? 600;
    this.failedLogins = read('FAILED_LOGINS_PER_MINUTE', integer(0, 1_000_000_000)) ?? 60;
    this.redisUrl = read('REDIS_URL', redisUrl);
    this.maxRequestsPerClient =
      read('MAX_REQUESTS_PER_CLIENT', integer(1, 1_000_000)) ?? 10 * this.poolSize;
    this.maxStreamsPerClient = read('MAX_STREAMS_PER_CLIENT', integer(1, 1000)) ?? 2;
    this.streamTimeout = read('STREAM_TIMEOUT_MS', integer(0, 86_400_000)) ?? 600_000;
    this.drain = read('DRAIN_MS', integer(0, 600_000)) ?? 0;
    this.logLevel = read('LOG_LEVEL', oneOf(LOG_LEVELS)) ?? 'info';
    this.trustProxy = read('TRUST_PROXY', proxies);
  }

  /** The same settings with changes. */
  with(changes: Partial<Settings>): Settings {
    return Object.assign(Object.create(Settings.prototype) as Settings, this, changes);
  }
}

/** The default on a database of somebody's own, where the port of the clients may be a public one. */
const ADMIN_PORT = 9090;

const LOG_LEVELS = ['error', 'warn', 'info', 'debug'] as const;

/** Reads a variable's text; `undefined` where it is not one. */
interface Format<T> {
  readonly expected: string;
  readonly read: (text: string) => T | undefined;
}

function reader(environment: NodeJS.ProcessEnv) {
  return <T>(name: string, { expected, read }: Format<T>): T | undefined => {
    const value = environment[name];
    // An empty variable is one that a compose file or a shell left unset.
    if (value === undefined || value === '') return undefined;
    const result = read(value);
    if (result === undefined) throw new CommandError(`${name} must be ${expected}`);
    return result;
  };
}

const text: Format<string> = { expected: 'text', read: (value) => value };

function integer(least: number, most: number): Format<number> {
  return {
    expected: `an integer between ${least} and ${most}`,
    read: (value) => {
      const number = /^[0-9]+$/.test(value) ? Number(value) : NaN;
      return number >= least && number <= most ? number : undefined;
    },
  };
}

function oneOf<T extends string>(allowed: readonly T[]): Format<T> {
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

// The value may hold a password, so it is never repeated.
const postgresUrl: Format<string> = {
  expected: 'a URL such as postgres://user:password@host:5432/database',
  read: (value) => (/^postgres(ql)?:\/\/./.test(value) && isUrl(value) ? value : undefined),
};

const postgresUrls: Format<string[]> = {
  expected: 'URLs such as postgres://user:password@host:5432/database, separated by commas',
  read: (value) => {
    const urls = value.split(',').map((url) => url.trim());
    return urls.every((url) => postgresUrl.read(url) !== undefined) ? urls : undefined;
  },
};

const redisUrl: Format<string> = {
  expected: 'a URL such as redis://user:password@host:6379/0',
  read: (value) =>
    /^rediss?:\/\/[^/]+(\/[0-9]*)?$/.test(value) && isUrl(value) ? value : undefined,
};

/** Whether a network has no more bits than its addresses. */
function isNetwork(text: string): boolean {
  const [address = '', bits = '0'] = text.split('/');
  return !isIP(address) || Number(bits) <= (isIP(address) === 4 ? 32 : 128);
}

const proxies: Format<number | string> = {
  expected: 'a number of proxies, or addresses and networks separated by commas',
  read: (value) => {
    if (/^[0-9]{1,3}$/.test(value)) return Number(value);
    const parts = value.split(',').map((part) => part.trim());
    const known = /^(loopback|linklocal|uniquelocal|[0-9.]+(\/[0-9]+)?|[0-9a-f:.]+(\/[0-9]+)?)$/i;
    return parts.every((part) => known.test(part) && isNetwork(part)) ? parts.join(',') : undefined;
  },
};
