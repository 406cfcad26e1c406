import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../background.js';
import { type Cluster, numberOf } from './cluster.js';
import { restore } from './restore.js';

/** What happens to a cluster under load. Resolves when all is as before again, but for who is the primary. */
export type Fault = (cluster: Cluster) => Promise<void>;

/** Longer than the primary keeps its key in etcd. */
const MINUTE = 60_000;

/** The number of a replica: of the one that has every commit, if there is one. */
async function replicaOf(cluster: Cluster): Promise<number> {
  const members = (await cluster.members()).filter(({ role }) => role !== 'leader');
  const replica = members.find(({ role }) => role === 'sync_standby') ?? members[0];
  if (!replica) throw new Error('There is no replica');
  return numberOf(replica);
}

async function untilPrimaryIsNot(cluster: Cluster, former: number): Promise<void> {
  await until(async () => (await cluster.primary()) !== former, 'there is another primary');
}

/** Kills the primary, and starts it again when another one has been chosen. */
async function killPrimary(cluster: Cluster, primary: number): Promise<void> {
  await cluster.kill(primary);
  await untilPrimaryIsNot(cluster, primary);
  await sleep(5000);
  await cluster.startPart(`member${primary}`);
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  'The primary is killed': async (cluster) => killPrimary(cluster, await cluster.primary()),
  'The primary is killed, its last 200 ms unsent': async (cluster) => {
    const primary = await cluster.primary();
    await cluster.hold(primary);
    await sleep(200);
    await killPrimary(cluster, primary);
  },
  'A switchover is asked for': async (cluster) => {
    const primary = await cluster.primary();
    const candidate = `member${await replicaOf(cluster)}`;
    await cluster.ask(primary, '/switchover', { leader: `member${primary}`, candidate });
    await untilPrimaryIsNot(cluster, primary);
  },
  'The primary cannot reach etcd for a minute': async (cluster) => {
    const primary = await cluster.primary();
    await cluster.cut(primary, true);
    await sleep(MINUTE);
    await cluster.cut(primary, false);
  },
  'A replica is killed': async (cluster) => {
    const replica = await replicaOf(cluster);
    await cluster.kill(replica);
    await sleep(5000);
    await cluster.startPart(`member${replica}`);
  },
  'A replica is rebuilt': async (cluster) => {
    const replica = await replicaOf(cluster);
    await cluster.ask(replica, '/reinitialize', { force: true });
    await sleep(5000);
  },
  'etcd is gone for a minute': async (cluster) => {
    await cluster.killPart('etcd');
    await sleep(MINUTE);
    await cluster.startPart('etcd');
  },
  'A backup is restored': restore,
};
