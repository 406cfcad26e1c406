import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../free-port.js';
import { programOf, type Tool } from '../tools.js';
import { until } from '../until.js';

const program = programOf('NGINX', 'nginx');

export const NGINX: Tool = {
  name: 'nginx',
  isThere: program !== undefined,
  install: 'apt-get install nginx, or its path as NGINX',
};

/** What replaces the addresses and the folder of `deploy/cache.conf`. */
function replacements(port: number, service: string, folder: string): Record<string, string> {
  return {
    'listen 8081;': `listen 127.0.0.1:${port};`,
    'server 127.0.0.1:3000': `server ${new URL(service).host}`,
    '/var/cache/nginx/catalogue ': `${folder}/kept `,
  };
}

/** nginx with `deploy/cache.conf` before a service. */
export class Cache {
  private output = '';

  private constructor(
    readonly address: string,
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    child.stderr?.on('data', (chunk: Buffer) => (this.output += chunk.toString()));
  }

  /** @param service its address, such as `http://127.0.0.1:3000` */
  static async before(service: string): Promise<Cache> {
    if (program === undefined) throw new Error('There is no nginx on the PATH');
    const port = await freePort();
    const folder = await mkdtemp(join(tmpdir(), 'catalogue-cache-'));
    let text = await readFile('deploy/cache.conf', 'utf8');
    for (const [there, by] of Object.entries(replacements(port, service, folder))) {
      if (!text.includes(there)) throw new Error(`There is no “${there}” in cache.conf`);
      text = text.replaceAll(there, by);
    }
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${folder}/${name};`,
    );
    const file = join(folder, 'nginx.conf');
    // As the process of one user, which needs not be root.
    await writeFile(
      file,
      `daemon off; master_process off; pid ${folder}/pid; error_log stderr;
       events { worker_connections 1024; }
       http { access_log off; ${temporary.join(' ')}\n${text}\n}\n`,
    );
    const child = spawn(program, ['-e', 'stderr', '-p', folder, '-c', file], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const cache = new Cache(`http://127.0.0.1:${port}`, child, folder);
    await until(async () => {
      if (child.exitCode !== null) throw new Error(cache.output);
      return fetch(cache.address).then(
        () => true,
        () => false,
      );
    });
    return cache;
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null) throw new Error(`nginx ended by itself: ${this.output}`);
    const exit = once(this.child, 'exit');
    this.child.kill('SIGTERM');
    await exit;
    await rm(this.folder, { recursive: true });
  }
}
