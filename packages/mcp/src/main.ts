#!/usr/bin/env node
import { Transport } from '@catalogue/client';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { parseArgs } from 'node:util';
import { fetchDocument } from './document.js';
import { httpServer } from './server.js';
import { serverOf } from './server.js';
import { toolsOf } from './tools.js';

const USAGE = 'Usage: catalogue mcp [--http <port> [--host <address>] [--allowed-host <name>]…]';

/** Milliseconds: hosts give up a call after a minute. */
const PATIENCE = { timeout: 30_000, maxRetryTime: 15_000 };

function argumentsOf() {
  const { values } = parseArgs({
    // `catalogue mcp` imports this program.
    args: process.argv.slice(process.argv[2] === 'mcp' ? 3 : 2),
    options: {
      http: { type: 'string' },
      host: { type: 'string', default: '127.0.0.1' },
      'allowed-host': { type: 'string', multiple: true, default: [] },
    },
  });
  const port = values.http === undefined ? undefined : Number(values.http);
  if (port !== undefined && !(/^\d+$/.test(values.http ?? '') && port < 65_536)) {
    throw new Error('--http must be a port');
  }
  return { port, host: values.host, allowedHosts: values['allowed-host'] };
}

function variable(name: string): string {
  const value = process.env[name];
  if (value) return value;
  throw new Error(`${name} is not set`);
}

async function serve({ port, host, allowedHosts }: ReturnType<typeof argumentsOf>): Promise<void> {
  const { CATALOGUE_URL: url = 'http://127.0.0.1:3000' } = process.env;
  const [clientID, accessToken] = [variable('CLIENT_ID'), variable('ACCESS_TOKEN')];
  const transport = new Transport({ url, clientID, accessToken, ...PATIENCE });
  const tools = toolsOf(await fetchDocument(url, clientID, accessToken), transport);
  const factory = () => serverOf(tools);
  if (port === undefined) {
    serveStdio(factory);
    return;
  }
  const server = httpServer(factory, [host, ...allowedHosts]).listen(port, host);
  await once(server, 'listening');
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => server.close());
  console.error(`Tools at http://${host}:${(server.address() as AddressInfo).port}/mcp`);
}

function end(status: number, error: unknown, ...more: string[]): never {
  console.error([error instanceof Error ? error.message : String(error), ...more].join('\n'));
  process.exit(status);
}

let given;
try {
  given = argumentsOf();
} catch (error) {
  end(2, error, USAGE);
}
await serve(given).catch((error: unknown) => end(1, error));
