import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFile, spawnSync } from 'node:child_process';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { BARE_ENVIRONMENT } from '../cli/catalogue.js';

/** Root may create namespaces on Linux. */
const itInNamespaces =
  spawnSync('unshare', ['--net', '--mount', 'true']).status === 0 ? it : it.skip;

let dataDir: string;

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'catalogue-anywhere-'));
  await chmod(dataDir, 0o755);
});
afterAll(() => rm(dataDir, { recursive: true, maxRetries: 5 }));

/** Runs a script of a shell in namespaces of its own, with an embedded database. Returns what it prints. */
async function run(script: string): Promise<string> {
  const args = ['--net', '--mount', 'bash', '-c', `ip link set lo up; ${script}`];
  const env = { ...BARE_ENVIRONMENT, PATH: `${process.env.PATH}:/usr/sbin`, DATA_DIR: dataDir };
  const { stdout, stderr } = await promisify(execFile)('unshare', args, { env });
  return stdout + stderr;
}

const CATALOGUE = `${process.execPath} dist/main.js`;

itInNamespaces(
  'The embedded database runs where IPv6 is alone, and the service listens there',
  async () => {
    const printed = await run(
      `ip address delete 127.0.0.1/8 dev lo
     PORT=0 timeout 100 ${CATALOGUE} start > ${dataDir}/log & started=$!
     until grep -q 'listens on' ${dataDir}/log; do kill -0 $started || break; sleep 0.2; done
     ${CATALOGUE} client list; kill $started; wait $started; cat ${dataDir}/log`,
    );
    expect(printed).toContain('demo\tThe demonstration');
    expect(printed).toMatch(/listens on http:\/\/\[::1\]:\d+ /);
  },
);

itInNamespaces('The embedded database runs where all but its files are read-only', async () => {
  const printed = await run(
    `mount --make-rprivate / && mount --bind ${dataDir} ${dataDir} && mount -o remount,bind,ro /
     touch /tmp/written; ${CATALOGUE} client list`,
  );
  expect(printed).toContain("touch: cannot touch '/tmp/written': Read-only file system");
  expect(printed).toContain('demo\tThe demonstration');
});

itInNamespaces('A user without a name is told what the embedded database needs', async () => {
  const folder = join(dataDir, 'of-nobody');
  const printed = await run(
    `mkdir ${folder} && chown 12345 ${folder}
     DATA_DIR=${folder} setpriv --reuid 12345 --regid 12345 --clear-groups ${CATALOGUE} client list || true`,
  );
  expect(printed).toMatch(/^catalogue: initdb needs an entry of the user 12345 in \/etc\/passwd/m);
});
