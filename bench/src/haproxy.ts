import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, isRunning, PROJECT, type Server, stop, watch } from './processes.js';

/**
 * Starts HAProxy before a service with `deploy/haproxy.cfg`, of which only the addresses are replaced. The
 * process and the health of the result are those of the service, which it stops, too. HAProxy is on the PATH.
 */
export async function behindHaproxy(service: Server): Promise<Server> {
  const port = await freePort();
  const folder = await mkdtemp(join(tmpdir(), 'catalogue-bench-'));
  const file = join(folder, 'haproxy.cfg');
  const replacements: Readonly<Record<string, string>> = {
    'default-path config': `default-path origin ${join(PROJECT, 'deploy')}`,
    'bind :8080': `bind 127.0.0.1:${port}`,
    'bind :8405': `bind 127.0.0.1:${await freePort()}`,
    'server-template catalogue 100 "catalogue:$PORT"': 'server catalogue 127.0.0.1:$PORT',
  };
  let text = await readFile(join(PROJECT, 'deploy', 'haproxy.cfg'), 'utf8');
  for (const [line, by] of Object.entries(replacements)) {
    if (!text.includes(`\n  ${line}\n`)) throw new Error(`There is no “${line}” in haproxy.cfg`);
    text = text.replaceAll(line, () => by);
  }
  await writeFile(file, text);
  const environment = {
    PATH: `${process.env.PATH ?? ''}:/usr/sbin:/usr/local/sbin`,
    PORT: new URL(service.address).port,
    ADMIN_PORT: new URL(service.adminAddress ?? service.address).port,
  };
  const child = watch(
    spawn('haproxy', ['-db', '-f', file], {
      env: environment,
      stdio: ['ignore', 'ignore', 'inherit'],
    }),
  );
  await once(child, 'spawn');
  const address = `http://127.0.0.1:${port}`;
  while (!(await isServed(address))) {
    if (!isRunning(child)) throw new Error('HAProxy ended');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  return {
    ...service,
    address,
    isRunning: () => isRunning(child) && service.isRunning(),
    stop: async () => {
      await stop(child);
      await service.stop();
      await rm(folder, { recursive: true });
    },
  };
}

/** Whether HAProxy listens and has found the service ready. */
async function isServed(address: string): Promise<boolean> {
  try {
    return (await fetch(address)).status !== 503;
  } catch {
    return false;
  }
}
