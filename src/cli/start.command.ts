import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { Command } from 'commander';
import { DataSource } from 'typeorm';
import { migrate } from '../database/migrate.js';
import { DEMO_CLIENT, DEMO_TOKEN, loadDemonstration } from '../demo/load-demonstration.js';
import { TallyKeeper } from '../list/tally/tally-keeper.js';
import { Refusal } from '../refusal.js';
import { NOT_YET, Settings } from '../settings.js';
import { openDatabase } from './open-catalogue.js';

export function startCommand(): Command {
  return new Command('start')
    .description('runs the service until it is told to stop')
    .action(start);
}

/** Runs the service; resolves when SIGINT or SIGTERM has ended it and nothing of it is left. */
async function start(): Promise<void> {
  const settings = new Settings(process.env);
  const idle = NOT_YET.filter((name) => process.env[name]);
  if (idle.length > 0) console.error(`Without effect in this version: ${idle.join(', ')}`);
  const stop = stopSignal();
  const { url, embedded } = await openDatabase(settings);
  try {
    const host = settings.host.includes(':') ? `[${settings.host}]` : settings.host;
    await embedded?.claimService(`pid ${process.pid}, http://${host}:${settings.port}`);
    await migrate(url);
    // Here and not above, since no other command needs an HTTP server in its memory.
    const { createApplication } = await import('../application.js');
    const application = await createApplication(url, settings);
    try {
      if (embedded) await loadDemonstration(application.get(DataSource));
      application.get(TallyKeeper).start();
      const address = await listen(application, settings);
      console.log(`Catalogue listens on ${address}`);
      console.log(
        embedded
          ? `Try: curl -H 'X-Client-ID: ${DEMO_CLIENT}' -H 'Authorization: Bearer ${DEMO_TOKEN}' '${address}/products?limit=2'`
          : 'A client is made with: catalogue client create <clientID>, its token with: catalogue token issue <clientID>',
      );
      await stop;
    } finally {
      await application.close();
    }
  } finally {
    await embedded?.release();
  }
}

/** Resolves at the first signal to stop; a second one ends the process as it stands. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        resolve();
      });
    }
  });
}

/** Listens, and gives the address as a client on this machine reaches it. */
async function listen(
  application: NestExpressApplication,
  { host, port }: Settings,
): Promise<string> {
  const server = application.getHttpServer();
  try {
    // Not by Nest, which would log what is told below.
    await once(server.listen(port, host), 'listening');
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Refusal(`Port ${port} on ${host} is in use: set PORT to another one`);
    }
    throw new Refusal(`${host}:${port} cannot be listened on (HOST, PORT): ${message}`);
  }
  const { port: actual } = server.address() as AddressInfo;
  const reached = ['0.0.0.0', '::'].includes(host) ? '127.0.0.1' : host;
  return `http://${reached.includes(':') ? `[${reached}]` : reached}:${actual}`;
}
