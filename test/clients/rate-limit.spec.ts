import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { freePort } from '../free-port.js';
import { refusal, type Service, sharedService, startService } from '../service.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';

describe('The rate limit', () => {
  const service = sharedService({ RATE_LIMIT_PER_MINUTE: '3' });

  it('lets a client ask so many times a minute, and says how many are left', async () => {
    for (const left of ['2', '1', '0']) {
      const { headers } = await service.get('/brands').expect(200);
      expect(headers).toMatchObject({ 'x-ratelimit-limit': '3', 'x-ratelimit-remaining': left });
      expect(Number(headers['x-ratelimit-reset'])).toBeGreaterThan(50);
      expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    }
  });

  it('refuses what is too many, before the parameters, and says when to come back', async () => {
    const { headers } = await service
      .get('/brands?nonsense=1')
      .expect(429, refusal(-40, 'The request limit of 3 per minute is exceeded'));
    expect(headers['x-ratelimit-remaining']).toBe('0');
    expect(headers['retry-after']).toBe(headers['x-ratelimit-reset']);
  });

  it('counts nothing for a stranger, nor on a path that is not there', async () => {
    const { headers } = await service.anonymous().get('/brands').expect(401);
    expect(headers).not.toHaveProperty('x-ratelimit-limit');
    await service.get('/nonsense').expect(404);
  });

  it.each([
    [1, 1],
    [0, 100],
  ])('of a client may be its own: %i', async (own, times) => {
    const client = await service.newClient(`own-${own}`, { rateLimit: own });
    for (let at = 0; at < times; at += 1) await client.get('/brands?limit=0').expect(200);
    const { headers } = await client.get('/brands?limit=0').expect(own === 0 ? 200 : 429);
    expect(headers['x-ratelimit-limit']).toBe(own === 0 ? undefined : String(own));
  });
});

it('The rate limit says when to come back also after the clock was set back by an hour', async () => {
  const service = await startService({ RATE_LIMIT_PER_MINUTE: '1' });
  try {
    await service.get('/brands?limit=0').expect(200);
    const time = Date.now();
    jest.spyOn(Date, 'now').mockImplementation(() => time - 3_600_000);
    const { headers } = await service.get('/brands?limit=0').expect(429);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
  } finally {
    jest.restoreAllMocks();
    await service.stop();
  }
});

const { describe: describeWithRedis } = withTool({
  name: 'redis-server',
  isThere: isThere(),
  install: 'apt-get install redis-server',
});

describeWithRedis('The rate limit with a Redis', () => {
  let redis: ChildProcess | undefined;
  const services: Service[] = [];

  afterEach(async () => {
    for (const service of services.splice(0)) await service.stop();
    await stopRedis();
  });

  async function startRedis(port: number): Promise<void> {
    const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', '/tmp'];
    redis = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    for await (const chunk of redis.stdout ?? []) {
      if (String(chunk).includes('Ready to accept connections')) break;
    }
  }

  async function stopRedis(): Promise<void> {
    if (redis?.exitCode === null && redis.signalCode === null) {
      const gone = once(redis, 'exit');
      redis.kill('SIGKILL');
      await gone;
    }
  }

  /** Starts an instance. The client has the same name on every instance. */
  async function instance(port: number, limit: string): Promise<Service> {
    const environment = { REDIS_URL: `redis://127.0.0.1:${port}`, RATE_LIMIT_PER_MINUTE: limit };
    const service = await startService(environment);
    services.push(service);
    return service;
  }

  async function left(service: Service): Promise<number> {
    const { headers } = await service.get('/brands?limit=0');
    return Number(headers['x-ratelimit-remaining']);
  }

  /** Resolves when the instances share their counts. */
  async function together(one: Service, other: Service): Promise<void> {
    await until(async () => {
      const before = await left(one);
      return (await left(other)) === before - 1;
    });
  }

  it('counts for all instances together', async () => {
    const port = await freePort();
    await startRedis(port);
    const [one, other] = [await instance(port, '1000'), await instance(port, '1000')];
    await together(one, other);
    const before = await left(other);
    await one.get('/brands').expect(200);
    await one.get('/brands').expect(200);
    expect(await left(other)).toBe(before - 3);
  });

  it('ends a window within a minute also where the clock of Redis was set back by an hour', async () => {
    const port = await freePort();
    await startRedis(port);
    const [one, other] = [await instance(port, '1000'), await instance(port, '1000')];
    await together(one, other);
    const before = await left(one);
    // The expiry of the key after the clock was set back.
    redisCommand(port, 'pexpire', 'catalogue-rate:tester', '3660000');
    const { headers } = await one.get('/brands?limit=0');
    expect(headers['x-ratelimit-remaining']).toBe(String(before - 1));
    expect(Number(headers['x-ratelimit-reset'])).toBeLessThanOrEqual(60);
    expect(Number(redisCommand(port, 'pttl', 'catalogue-rate:tester'))).toBeLessThanOrEqual(60_000);
  });

  it('does not wait long for a Redis that is silent or full, and says that it is away', async () => {
    const port = await freePort();
    await startRedis(port);
    const one = await instance(port, '1000');
    // It is not away just now, as it may be on a busy machine.
    const counted = () => Number(redisCommand(port, 'get', 'catalogue-rate:tester'));
    await until(async () => {
      const before = counted();
      await left(one);
      return counted() === before + 1;
    });
    const warned = jest.spyOn(Logger.prototype, 'warn').mockImplementation(() => undefined);
    redis?.kill('SIGSTOP');
    const began = performance.now();
    for (let at = 0; at < 20; at += 1) await one.get('/brands?limit=0').expect(200);
    // One request that waits for the timeout, and perhaps a second one a second later.
    expect(performance.now() - began).toBeLessThan(20 * 150);
    expect(warned).toHaveBeenCalledTimes(1);
    const back = jest.spyOn(Logger.prototype, 'log').mockImplementation(() => undefined);
    redis?.kill('SIGCONT');
    await until(async () => {
      await left(one);
      return back.mock.calls.length > 0;
    });
    back.mockRestore();
    redisCommand(port, 'config', 'set', 'maxmemory', '1');
    warned.mockClear();
    await until(async () => {
      await left(one);
      return warned.mock.calls.length > 0;
    });
    expect(String(warned.mock.calls[0]?.[0])).toMatch(/^Redis is away.*: OOM/);
    warned.mockRestore();
  });

  it('refuses nobody for want of Redis, and counts together again when it is back', async () => {
    const port = await freePort();
    const [one, other] = [await instance(port, '1000'), await instance(port, '1000')];
    expect([await left(one), await left(one), await left(other)]).toEqual([999, 998, 999]);
    await startRedis(port);
    await together(one, other);
    await stopRedis();
    await one.get('/brands').expect(200);
    await other.get('/brands').expect(200);
  });
});

function redisCommand(port: number, ...command: string[]): string {
  return execFileSync('redis-cli', ['-p', String(port), ...command], { encoding: 'utf8' });
}

function isThere(): boolean {
  try {
    execFileSync('redis-server', ['--version']);
    return true;
  } catch {
    return false;
  }
}
