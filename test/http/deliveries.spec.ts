import { afterEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deliveries } from '#server/http/server/deliveries.js';
import { onEnd } from '#server/http/server/admission.js';
import { until } from '../until.js';

/** More bytes than the kernel buffers for a connection. */
const BODY = Buffer.alloc(20_000_000, 'x');
const ROOMY = { grace: 60_000, rate: 1_000_000, bytes: 1_000_000_000 };

let server: Server | undefined;
const sockets: Socket[] = [];
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
  server?.closeAllConnections();
  server?.close();
});

/** Starts a server with large responses, and clients that do not read them. */
async function serve(
  limits: typeof ROOMY,
  readers: number,
  areHalfClosed = false,
): Promise<Deliveries> {
  const deliveries = new Deliveries(limits);
  let begun = 0;
  server = createServer((_request, response) => {
    onEnd(response, () => {
      deliveries.add(response);
    });
    response.once('close', () => {
      deliveries.delete(response);
    });
    response.end(BODY);
    begun += 1;
  });
  Object.assign(server, { httpAllowHalfOpen: true });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  for (let at = 0; at < readers; at += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    sockets.push(socket);
    socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await once(socket, 'connect');
    if (areHalfClosed) socket.end();
  }
  await until(() => begun === readers);
  return deliveries;
}

function connections(): Promise<number> {
  return new Promise((resolve) => {
    server?.getConnections((_error, count) => {
      resolve(count);
    });
  });
}

describe('A reader that takes nothing', () => {
  it.each([
    ['open', false],
    ['half closed', true],
  ])('loses its connection when its time is over: %s', async (_, areHalfClosed) => {
    const deliveries = await serve({ ...ROOMY, grace: 300, rate: 1e9 }, 3, areHalfClosed);
    expect(await connections()).toBe(3);
    expect(deliveries.bytes).toBeGreaterThan(30_000_000);
    await until(async () => (await connections()) === 0);
    // The responses close after their connections.
    await until(() => deliveries.bytes === 0);
  });

  it('keeps it for the time that the size of its response allows', async () => {
    await serve({ ...ROOMY, grace: 0, rate: 1_000_000 }, 1);
    // Readers are checked every second: two checks must leave this one alone.
    await sleep(2500);
    expect(await connections()).toBe(1);
  });

  it('loses it to make room where all together hold too much, the one that waits longest first', async () => {
    const deliveries = await serve({ ...ROOMY, bytes: 45_000_000 }, 4);
    expect(deliveries.bytes).toBeGreaterThan(60_000_000);
    // Two checks: the second must close no more.
    await sleep(2500);
    expect(await connections()).toBe(2);
    expect(sockets.map(({ destroyed, readableEnded }) => destroyed || readableEnded)).toHaveLength(
      4,
    );
    expect(deliveries.bytes).toBeLessThanOrEqual(45_000_000);
  });
});

describe('A reader that takes its response', () => {
  it('keeps its connection', async () => {
    const deliveries = await serve({ ...ROOMY, grace: 1500, rate: 1e9 }, 1);
    for (const socket of sockets) socket.resume();
    // A reader that takes nothing has lost its connection by then.
    await sleep(2500);
    expect(await connections()).toBe(1);
    expect(deliveries.bytes).toBe(0);
  });
});
