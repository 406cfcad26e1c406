import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CommandError } from '#server/command-error.js';
import { Settings } from '#server/settings/settings.js';

describe('Settings', () => {
  it('have the defaults of the contract', () => {
    expect(new Settings({})).toMatchObject({
      port: 3000,
      host: '127.0.0.1',
      databaseUrl: undefined,
      dataDir: '.data',
      maxLimit: 1000,
      queryTimeout: 5000,
      poolSize: 10,
      maxRequestsPerClient: 100,
      maxStreamsPerClient: 2,
      streamTimeout: 600_000,
      searchLanguage: 'simple',
      failedLogins: 60,
      logLevel: 'info',
      slowList: 1000,
      otlpEndpoint: undefined,
      corsOrigins: [],
      trustProxy: undefined,
    });
  });

  it('open the service to other hosts only on a database of its own', () => {
    expect(new Settings({ DATABASE_URL: 'postgres://db/catalogue' }).host).toBe('::');
    expect(new Settings({ DATABASE_URL: 'postgres://db/c', HOST: '::1' }).host).toBe('::1');
  });

  it('serve health and metrics at a port of their own on a database of its own', () => {
    const own = { DATABASE_URL: 'postgres://db/c' };
    expect(new Settings(own).adminPort).toBe(9090);
    expect(new Settings({ ...own, ADMIN_PORT: '' }).adminPort).toBe(9090);
    expect(new Settings({ ...own, ADMIN_PORT: '9191' }).adminPort).toBe(9191);
    expect(new Settings({ ...own, ADMIN_PORT: '0', PORT: '0' }).adminPort).toBe(0);
    expect(new Settings({}).adminPort).toBeUndefined();
    expect(new Settings({ PORT: '9090' }).adminPort).toBeUndefined();
    expect(new Settings({ ADMIN_PORT: '9191' }).adminPort).toBe(9191);
  });

  it.each([
    { DATABASE_URL: 'postgres://db/c', PORT: '9090' },
    { PORT: '3001', ADMIN_PORT: '3001' },
  ])('refuse one port for both: %j', (environment) => {
    expect(() => new Settings(environment)).toThrow(
      new CommandError('ADMIN_PORT must differ from PORT; with DATABASE_URL its default is 9090'),
    );
  });

  it('take an empty variable for one that is not set', () => {
    expect(new Settings({ PORT: '', DATABASE_URL: '' }).port).toBe(3000);
  });

  it.each([
    ['PORT', '65536', 'an integer between 0 and 65535'],
    ['PORT', '3e3', 'an integer between 0 and 65535'],
    ['PORT', ' 3000', 'an integer between 0 and 65535'],
    ['DATABASE_URL', 'mysql://db/c', 'a URL such as postgres://user:password@host:5432/database'],
    ['DATABASE_URL', 'postgres://', 'a URL such as postgres://user:password@host:5432/database'],
    ['MAX_LIMIT', '0', 'an integer between 1 and 100000'],
    ['QUERY_TIMEOUT_MS', '-1', 'an integer between 1 and 600000'],
    ['REDIS_URL', 'redis://host/abc', 'a URL such as redis://user:password@host:6379/0'],
    ['REDIS_URL', 'redis://u:%ZZ@host', 'a URL such as redis://user:password@host:6379/0'],
    [
      'DATABASE_URL',
      'postgres://u:%ZZ@host/c',
      'a URL such as postgres://user:password@host:5432/database',
    ],
    [
      'TRUST_PROXY',
      '1.2.3.4/99',
      'a number of proxies, or addresses and networks separated by commas',
    ],
    ['MAX_REQUESTS_PER_CLIENT', '0', 'an integer between 1 and 1000000'],
    ['MAX_STREAMS_PER_CLIENT', 'two', 'an integer between 1 and 1000'],
    ['STREAM_TIMEOUT_MS', '-1', 'an integer between 0 and 86400000'],
    [
      'SEARCH_LANGUAGE',
      "x'y",
      'a text search configuration of PostgreSQL, such as simple or english',
    ],
    ['FAILED_LOGINS_PER_MINUTE', '-1', 'an integer between 0 and 1000000000'],
    ['POOL_SIZE', 'many', 'an integer between 1 and 1000'],
    ['LOG_LEVEL', 'verbose', 'one of error, warn, info, debug'],
    ['SLOW_LIST_MS', '-1', 'an integer between 0 and 600000'],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', 'collector:4318', 'a URL such as http://collector:4318'],
    [
      'TRUST_PROXY',
      'fd00:::/8',
      'a number of proxies, or addresses and networks separated by commas',
    ],
    [
      'TRUST_PROXY',
      '::1/129',
      'a number of proxies, or addresses and networks separated by commas',
    ],
    [
      'TRUST_PROXY',
      'yes, all',
      'a number of proxies, or addresses and networks separated by commas',
    ],
  ])('refuse %s=%s by name', (name, value, expected) => {
    expect(() => new Settings({ [name]: value })).toThrow(
      new CommandError(`${name} must be ${expected}`),
    );
  });

  it.each([
    ['*', '*'],
    ['https://shop.example.com', ['https://shop.example.com']],
    ['http://127.0.0.1:8080, https://[::1]:8443', ['http://127.0.0.1:8080', 'https://[::1]:8443']],
  ])('take CORS_ORIGINS=%s', (value, expected) => {
    expect(new Settings({ CORS_ORIGINS: value }).corsOrigins).toEqual(expected);
  });

  // What a browser would never send, so that the setting would have no effect.
  it.each([
    'shop.example.com',
    'null',
    'ftp://shop.example.com',
    'https://shop.example.com/',
    'https://shop.example.com/path',
    'https://Shop.example.com',
    'HTTPS://shop.example.com',
    'https://shop.example.com:443',
    'https://shop.example.com:0443',
    'https://shop.example.com:65536',
    'https://user@shop.example.com',
    'https://*.example.com',
    'https://läden.example.com',
    'http://127.1',
    'https://shop.example.com,',
    'https://shop.example.com https://other.example.com',
    '*,https://shop.example.com',
  ])('refuse CORS_ORIGINS=%s', (value) => {
    expect(() => new Settings({ CORS_ORIGINS: value })).toThrow(
      new CommandError(
        'CORS_ORIGINS must be origins such as https://shop.example.com separated by commas, or *',
      ),
    );
  });

  describe('with passwords', () => {
    let folder: string;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'catalogue-secrets-'));
    });
    afterAll(() => rm(folder, { recursive: true }));

    const secret = async (text: string): Promise<string> => {
      const file = join(folder, 'secret');
      await writeFile(file, text);
      return file;
    };

    it.each([
      ['DATABASE_URL', 'postgres://u:p@db/c', 'databaseUrl', 'postgres://u:p@db/c'],
      ['REDIS_URL', 'redis://:p@host:6379/0', 'redisUrl', 'redis://:p@host:6379/0'],
      [
        'DATABASE_REPLICA_URLS',
        'postgres://a,postgres://b',
        'replicaUrls',
        ['postgres://a', 'postgres://b'],
      ],
    ])('come from the file that %s_FILE names', async (name, text, setting, value) => {
      const others = { DATABASE_URL: 'postgres://db/c', [name]: '' };
      for (const end of ['', '\n', '\r\n']) {
        const settings = new Settings({ ...others, [`${name}_FILE`]: await secret(text + end) });
        expect(settings).toHaveProperty(setting, value);
      }
    });

    it('come from one place, which can be read, and has a valid value', async () => {
      const file = await secret('mysql://u:secret@db/c');
      const refuse = (environment: NodeJS.ProcessEnv, message: string): void => {
        expect(() => new Settings(environment)).toThrow(new CommandError(message));
      };
      refuse(
        { DATABASE_URL_FILE: file },
        'DATABASE_URL_FILE must contain a URL such as postgres://user:password@host:5432/database',
      );
      refuse(
        { DATABASE_URL_FILE: file, DATABASE_URL: 'postgres://db/c' },
        'DATABASE_URL and DATABASE_URL_FILE must not both be set',
      );
      const lines = await secret('postgres://u:p@db/c\nsecond\n');
      refuse(
        { DATABASE_URL_FILE: lines },
        'DATABASE_URL_FILE must contain a URL such as postgres://user:password@host:5432/database',
      );
      refuse({ REDIS_URL_FILE: join(folder, 'none') }, 'REDIS_URL_FILE cannot be read: ENOENT');
      refuse({ REDIS_URL_FILE: folder }, 'REDIS_URL_FILE must be a regular file');
    });
  });

  it('never repeat a password', () => {
    const url = 'mysql://user:secret@db/c';
    expect(() => new Settings({ DATABASE_URL: url })).not.toThrow(/secret/);
  });
});
