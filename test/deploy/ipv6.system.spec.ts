import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createDatabase, type TestDatabase } from '#server/testing/database.js';
import { loadBrands } from '../database/load-brands.js';
import type { Instance } from '../faults/instance.js';
import { withTool } from '../tools.js';
import { until } from '../until.js';
import { Fleet } from './fleet.js';
import { HAPROXY, HAS_IPV6 } from './proxy.js';

const { it: itWithProxy } = withTool(HAPROXY);

const LOOPBACKS = HAS_IPV6 ? ['127.0.0.1', '[::1]'] : ['127.0.0.1'];

let database: TestDatabase;
let headers: Readonly<Record<string, string>>;
let fleet: Fleet;
let instance: Instance;

beforeAll(async () => {
  database = await createDatabase();
  headers = (await loadBrands(database.url, ['tester'], 1)).tester;
  fleet = await Fleet.on(database.url);
  // Empty is as if it was not set.
  instance = await fleet.startAt('', { TRUST_PROXY: '::ffff:127.0.0.1,::1,fd00::/8,10.0.0.0/8' });
});
afterAll(async () => {
  await fleet.end();
  await database.drop();
});

const status = async (address: string): Promise<number> =>
  (await fetch(address, { headers })).status;

/** Runs the health check of the image beside an instance. */
function isHealthy(environment: Readonly<Record<string, string>>): boolean {
  const [, command = ''] =
    /HEALTHCHECK[^[]*CMD (\[.*\])$/ms.exec(readFileSync('Dockerfile', 'utf8')) ?? [];
  const [program = '', ...args] = JSON.parse(command.split('\n')[0] ?? '') as string[];
  const env = { PATH: process.env.PATH, ...environment };
  return spawnSync(program, args, { env, timeout: 15_000 }).status === 0;
}

it.each(LOOPBACKS)('An instance listens on %s by default, at both ports', async (host) => {
  const { PORT, ADMIN_PORT } = instance.ports;
  expect(await status(`http://${host}:${PORT}/brands`)).toBe(200);
  expect(await status(`http://${host}:${ADMIN_PORT}/health/ready`)).toBe(200);
});

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['::ffff:203.0.113.8', '203.0.113.8'],
  ['2001:db8::7', '2001:db8::7'],
  ['[2001:db8::9]:4711', '2001:db8::9'],
  ['[2001:DB8:0::a]', '2001:db8::a'],
  ['203.0.113.9:4711', '203.0.113.9'],
  ['198.51.100.1, 2001:db8::b, ::1', '2001:db8::b'],
  ['2001:db8::c, fd12:3456::1, ::ffff:10.1.2.3', '2001:db8::c'],
])('A trusted proxy at an address of IPv4 tells it of the client %s', async (sent, address) => {
  const forged = { ...headers, 'X-Client-ID': 'unknown', 'X-Forwarded-For': sent };
  await fetch(`http://127.0.0.1:${instance.ports.PORT}/brands`, { headers: forged });
  await until(() => instance.output.includes(`"address":"${address}"`));
});

it('The health check of the image finds an instance at the default address', async () => {
  const { ADMIN_PORT } = instance.ports;
  await until(() => isHealthy({ ADMIN_PORT }));
  expect(isHealthy({ ADMIN_PORT: '1' })).toBe(false);
});

itWithProxy('HAProxy takes IPv6 beside IPv4', async () => {
  const proxy = await fleet.proxyBefore(['127.0.0.1']);
  await proxy.untilReady(1);
  for (const host of LOOPBACKS) {
    expect(await status(`http://${host}:${proxy.port}/brands`)).toBe(200);
    expect(await status(`http://${host}:${proxy.operatorPort}/ready`)).toBe(200);
  }
  if (!HAS_IPV6) return;
  const unknown = { ...headers, 'X-Client-ID': 'unknown' };
  await fetch(`http://[::1]:${proxy.port}/brands`, { headers: unknown });
  await until(() => instance.output.includes('"address":"::1"'));
});
