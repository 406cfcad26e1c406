import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { closeGracefully } from '../../src/http/server/closing.js';
import { Connections } from '../../src/http/server/connections.js';
import { createEnvelopedServer } from '../../src/http/server/enveloped-server.js';
import { until } from '../until.js';

it.each(['reset', 'closed'])('Every response closes when its connection is %s', async (way) => {
  const connections = new Connections();
  const closed: string[] = [];
  let requests = 0;
  const server = createServer((request, response) => {
    requests += 1;
    connections.add(response);
    response.once('close', () => closed.push(request.url ?? ''));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const paths = ['/1', '/2', '/3'];
  socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join(''));
  await until(() => requests === paths.length);
  expect(connections.responses).toHaveLength(paths.length);
  if (way === 'reset') socket.resetAndDestroy();
  else socket.destroy();
  await until(() => closed.length >= paths.length);
  server.close();
  expect(closed.sort()).toEqual(paths);
  expect(connections.responses).toEqual([]);
});

it('Connections that wait to be accepted when the server closes are answered', async () => {
  const enveloped = createEnvelopedServer(
    { answer: (_request, response) => response.setHeader('Connection', 'close').end('answered') },
    1000,
  );
  const { server } = enveloped;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const sockets = Array.from({ length: 50 }, () => connect(port, '127.0.0.1'));
  const answers = sockets.map(async (socket) => {
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
    socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    await new Promise<void>((resolve) => {
      socket.once('close', () => {
        resolve();
      });
      socket.once('error', (error) => (text = error.message));
    });
    return text.split('\r\n', 1)[0];
  });
  // The system has the connections now, and the event loop has had no pass to accept them.
  await new Promise<void>((resolve) => {
    process.nextTick(resolve);
  });
  await closeGracefully(enveloped);
  expect(new Set(await Promise.all(answers))).toEqual(new Set(['HTTP/1.1 200 OK']));
});
