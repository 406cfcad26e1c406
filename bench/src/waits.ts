import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { credentials, startService } from './contenders.js';
import { query } from './database.js';
import { Worker } from './processes.js';
import type { Waits, WaitsResult } from './waits-load.js';

/** How many wait, and how many changes each of them is told. */
const LOADS = [
  { waiting: 0, changes: 0 },
  { waiting: 1, changes: 30 },
  { waiting: 100, changes: 15 },
  { waiting: 10_000, changes: 6 },
];
/** A client may have 1,000 requests that wait. */
const CLIENTS = 10;
/** Seconds for which nothing changes. */
const IDLE = 10;
/** Clock ticks of Linux a second. */
const TICKS = 100;

/** What came of requests that wait for a change of a page of 50 products. */
export interface WaitsMeasurement {
  readonly waiting: number;
  readonly changes: number;
  /** Milliseconds from the statement that commits to the answers. */
  readonly median?: number;
  readonly p99?: number;
  readonly greatest?: number;
  /** The CPU time that each takes while nothing changes, in percent of a core. */
  readonly cpu: { readonly instance: number; readonly postgres: number };
}

/** Measures how soon those who wait are told of a change, and what the wait costs. */
export async function waits(databaseUrl: string): Promise<WaitsMeasurement[]> {
  const clients: Record<string, string>[] = [];
  while (clients.length < CLIENTS) clients.push(await credentials(databaseUrl));
  const server = await startService(databaseUrl, {});
  const load = new Worker<Waits, WaitsResult>('waits-load.js');
  const [{ data_directory: folder } = { data_directory: '' }] = await query<{
    data_directory: string;
  }>(databaseUrl, 'SHOW data_directory');
  const postmaster = Number.parseInt(await readFile(join(folder, 'postmaster.pid'), 'utf8'), 10);
  const measured: WaitsMeasurement[] = [];
  try {
    for (const { waiting, changes } of LOADS) {
      console.error(`Waits: ${waiting}`);
      const metricsUrl = `${server.adminAddress ?? ''}/metrics`;
      const task = { url: `${server.address}/products`, clients, databaseUrl, metricsUrl };
      const { times } = await load.run({ ...task, connections: waiting, changes });
      const sorted = times.toSorted((one, other) => one - other);
      const at = (part: number): number | undefined => sorted[Math.floor(sorted.length * part)];
      // What the service does behind a change.
      await sleep(2000);
      const before = [await cpuOf(server.pid), await cpuOfChildren(postmaster)];
      await sleep(IDLE * 1000);
      const after = [await cpuOf(server.pid), await cpuOfChildren(postmaster)];
      const [instance = NaN, postgres = NaN] = after.map(
        (ticks, each) => (100 * (ticks - (before[each] ?? NaN))) / (TICKS * IDLE),
      );
      const latency = { median: at(0.5), p99: at(0.99), greatest: sorted.at(-1) };
      measured.push({ waiting, changes, ...latency, cpu: { instance, postgres } });
    }
    return measured;
  } finally {
    await load.stop();
    await server.stop();
  }
}

/** The CPU time of a process, in ticks; 0 if it has ended. */
async function cpuOf(pid: number): Promise<number> {
  return (await statOf(pid)).cpu;
}

/** The CPU time of all processes that a process has started, also of those that have ended. */
async function cpuOfChildren(parent: number): Promise<number> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0);
  const stats = await Promise.all(pids.map(statOf));
  const { ended } = await statOf(parent);
  return stats.reduce((sum, stat) => sum + (stat.parent === parent ? stat.cpu : 0), ended);
}

async function statOf(pid: number): Promise<{ parent: number; cpu: number; ended: number }> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // Behind the name of its program, which may have any character.
  const [, parent = 0, ...fields] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(9);
  return { parent, cpu: user + system, ended: endedUser + endedSystem };
}
