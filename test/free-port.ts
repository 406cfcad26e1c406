import { once } from 'node:events';
import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Below the ports that Linux and macOS give to connections. Otherwise one of them could take the port before it is
 * listened on. Above 10080, the last one that `fetch` refuses.
 */
const PORTS = { from: 11_000, to: 32_000 };

/** A port of the loopback address that is free now. */
export async function freePort(): Promise<number> {
  const port = randomInt(PORTS.from, PORTS.to);
  const probe = createServer().listen(port, '127.0.0.1');
  try {
    await once(probe, 'listening');
  } catch {
    return freePort();
  }
  await once(probe.close(), 'close');
  return port;
}
