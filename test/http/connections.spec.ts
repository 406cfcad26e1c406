import { expect, it } from '@jest/globals';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { Connections } from '../../src/http/server/connections.js';
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
