import { afterAll, beforeAll, expect, it } from '@jest/globals';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService();
});
afterAll(async () => {
  await service.stop();
});

it('Express leaves the prototypes of requests and responses as they are', async () => {
  const server = service.application.getHttpServer();
  const seen: [message: object, prototype: unknown][] = [];
  server.prependListener('request', (request: IncomingMessage, response: ServerResponse) => {
    seen.push(
      ...[request, response].map((message): [object, unknown] => [
        message,
        Object.getPrototypeOf(message),
      ]),
    );
  });
  await service.get('/brands').expect(200);
  expect(seen).toHaveLength(2);
  for (const [message, prototype] of seen) {
    expect(Object.getPrototypeOf(message) === prototype).toBe(true);
  }
});
