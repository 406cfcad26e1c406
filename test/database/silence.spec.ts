import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createApplication } from '../../src/application.js';
import { Settings } from '../../src/settings.js';
import { refusal, type Service, startService } from '../service.js';

/** A proxy before the database that can fall silent: nothing arrives any more, nothing is closed. */
const connections: Socket[] = [];
const proxy = createServer((socket) => {
  const { hostname, port } = new URL(service.database.url);
  const server = connect(Number(port), hostname);
  for (const end of [socket, server]) end.on('error', () => undefined);
  socket.pipe(server).pipe(socket);
  socket.on('close', () => server.destroy());
  connections.push(socket);
});
let service: Service;

beforeAll(async () => {
  service = await startService();
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
});
afterAll(async () => {
  for (const socket of connections) socket.destroy();
  proxy.close();
  await service.stop();
});

it('A database that falls silent is -3 in time, and does not lock a client out', async () => {
  const log = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
  const url = new URL(service.database.url);
  url.port = String((proxy.address() as AddressInfo).port);
  const settings = new Settings({
    LOG_LEVEL: 'error',
    DATABASE_URL: url.href,
    QUERY_TIMEOUT_MS: '100',
    POOL_SIZE: '1',
  });
  const application = await createApplication(url.href, settings);
  await application.listen(0, '127.0.0.1');
  const { port } = application.getHttpServer().address() as AddressInfo;
  const ask = async () => {
    const headers = {
      'X-Client-ID': service.clientID,
      Authorization: `Bearer ${service.token}`,
    };
    const response = await fetch(`http://127.0.0.1:${port}/brands`, { headers });
    return { status: response.status, body: await response.json() };
  };
  try {
    expect((await ask()).status).toBe(200);
    for (const socket of connections) socket.unpipe().pause();
    expect(await ask()).toEqual({
      status: 503,
      body: refusal(-3, 'The request took too long'),
    });
    // The connection that leads nowhere is gone, and a new one is made.
    expect((await ask()).status).toBe(200);
  } finally {
    await application.close();
    log.mockRestore();
  }
});
