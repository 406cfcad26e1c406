import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Worker } from 'node:worker_threads';
import { EnvelopedServer } from '#server/http/server/enveloped-server.js';
import { Connections } from '#server/http/server/connections.js';
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

/** Opens connections, sends a request on each, and posts the status lines. Connected ones are counted in `connected`. */
const CLIENT = `
  const { connect } = require('node:net');
  const { parentPort, workerData: { port, connections, connected } } = require('node:worker_threads');
  const answers = Array.from({ length: connections }, () => new Promise((resolve) => {
    let text = '';
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('GET / HTTP/1.1\\r\\nHost: a\\r\\n\\r\\n');
      Atomics.add(connected, 0, 1);
      Atomics.notify(connected, 0);
    });
    socket.on('data', (chunk) => (text += chunk));
    socket.on('error', (error) => (text = error.message));
    socket.on('close', () => resolve(text.split('\\r\\n', 1)[0]));
  }));
  Promise.all(answers).then((lines) => parentPort.postMessage(lines));
`;

it('Connections that wait to be accepted when the server closes are answered', async () => {
  const enveloped = new EnvelopedServer(
    { answer: (_request, response) => response.setHeader('Connection', 'close').end('answered') },
    1000,
  );
  const { server } = enveloped;
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const connections = 50;
  const connected = new Int32Array(new SharedArrayBuffer(4));
  const { port } = server.address() as AddressInfo;
  const client = new Worker(CLIENT, { eval: true, workerData: { port, connections, connected } });
  const answers = once(client, 'message');
  // This blocks the event loop, so that the server accepts none of them yet.
  for (let open = 0; open < connections; open = Atomics.load(connected, 0)) {
    Atomics.wait(connected, 0, open);
  }
  await enveloped.close();
  expect(new Set((await answers)[0] as string[])).toEqual(new Set(['HTTP/1.1 200 OK']));
});
