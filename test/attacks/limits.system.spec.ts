import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';
import { freePort } from '../free-port.js';
import { until } from '../until.js';
import { head, received, send } from './attacker.js';
import { startTarget, visit } from './target.js';
import { shared } from '#server/testing/shared.js';

describe('With few file descriptors', () => {
  // Node opens the modules of the service side by side when it starts, which takes more than 200.
  const target = shared(() => startTarget({ POOL_SIZE: '5' }, 320));
  const sockets: Socket[] = [];
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  it('the admin port and the database stay reachable while connections use them up', async () => {
    for (let at = 0; at < 400; at += 1) sockets.push(await send(target.port, ''));
    for (let probe = 0; probe < 5; probe += 1) {
      const ready = await fetch(`http://127.0.0.1:${target.adminPort}/health/ready`, {
        headers: { Connection: 'close' },
      });
      expect(ready.status).toBe(200);
      // Spreads the probes over more than a second.
      await sleep(300);
    }
    for (const socket of sockets) socket.destroy();
    await until(async () => {
      const outcome = await visit(target).catch(() => undefined);
      return outcome?.status === 200;
    }, 2000);
  });
});

describe('Before the database is there', () => {
  let child: ChildProcess;
  let port = 0;
  beforeAll(async () => {
    const [nowhere, free] = [await freePort(), await freePort()];
    port = free;
    child = spawn(process.execPath, ['dist/main.js', 'start'], {
      env: {
        ...BARE_ENVIRONMENT,
        HOST: '127.0.0.1',
        PORT: String(port),
        ADMIN_PORT: '0',
        DATABASE_URL: `postgres://nobody@127.0.0.1:${nowhere}/nothing`,
      },
    });
    await until(async () => {
      const response = await fetch(`http://127.0.0.1:${port}/brands`).catch(() => undefined);
      return response?.status === 503;
    });
  });
  afterAll(async () => {
    child.kill('SIGTERM');
    await once(child, 'exit');
  });

  it.each([
    ['a request', head('/brands', { Connection: 'close' }), 503, -2],
    ['what cannot be parsed', 'nonsense\r\n\r\n', 400, -20],
    ['headers that are too large', head('/brands', { X: 'x'.repeat(40_000) }), 431, -34],
    [
      'a target that is too long',
      head(`/${'x'.repeat(20_000)}`, { Connection: 'close' }),
      414,
      -34,
    ],
    ['an expectation', head('/brands', { Expect: 'tea', Connection: 'close' }), 400, -20],
    ['a body', head('/brands', { 'Content-Length': '9' }), 400, -20],
    ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, -32],
    ['no Host', 'GET /brands HTTP/1.1\r\nConnection: close\r\n\r\n', 400, -20],
  ])('%s is answered in the envelope', async (_, bytes, status, errcode) => {
    const [lines = '', body = ''] = (await received(port, bytes)).split('\r\n\r\n');
    expect(lines).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    expect(lines).toContain('Content-Type: application/json; charset=utf-8');
    expect(JSON.parse(body)).toMatchObject({
      result: { status: 'ERROR', errcode: String(errcode) },
    });
  });
});
