import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../background.js';
import { type Cluster, numberOf } from './cluster.js';
import type { Readers } from './readers.js';
import { restore } from './restore.js';

/** What happens to a cluster under load. Resolves when all is as before again, but for who is the primary. */
export type Fault = (cluster: Cluster, readers: Readers) => Promise<void>;

/** Longer than the primary keeps its key in etcd. */
const MINUTE = 60_000;
const PAUSE = 45_000;

/** How long after a change of the primary a TCP proxy points at the new one, as after that of a name. */
const LATE = 10_000;

/** Clients that wait for changes at a time. */
const FLOOD = 300;

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

async function switchOver(cluster: Cluster, primary: number): Promise<void> {
  const candidate = `member${await replicaOf(cluster)}`;
  await cluster.ask(primary, '/switchover', { leader: `member${primary}`, candidate });
  await untilPrimaryIsNot(cluster, primary);
}

/** Stops all processes of the primary for a while. Another one is chosen, which work gets. */
async function pausePrimary(
  cluster: Cluster,
  primary: number,
  work: () => Promise<void> = () => Promise.resolve(),
): Promise<void> {
  await cluster.pause(primary, true);
  const pause = sleep(PAUSE);
  try {
    await untilPrimaryIsNot(cluster, primary);
    await work();
    await pause;
  } finally {
    await cluster.pause(primary, false);
  }
  await sleep(15_000);
}

/**
 * Lets the service reach the primary through a plain TCP proxy. After the change of the primary, that leads new
 * connections to the new one, and leaves the open ones where they are.
 *
 * @param change gets the primary, and what points the TCP proxy at the new one
 */
async function behindProxy(
  cluster: Cluster,
  change: (former: number, follow: () => Promise<void>) => Promise<void>,
): Promise<void> {
  const former = await cluster.primary();
  cluster.forward(former);
  // The service opens its connections.
  await sleep(3000);
  try {
    await change(former, async () => {
      await sleep(LATE);
      cluster.forward(await cluster.primary(), true);
    });
  } finally {
    cluster.forward();
  }
}

/** The primary is left without Patroni, so that another one is chosen while it goes on. */
async function abandoned(
  cluster: Cluster,
  former: number,
  follow: () => Promise<void>,
): Promise<void> {
  await cluster.killPart(`member${former}`);
  await untilPrimaryIsNot(cluster, former);
  await follow();
  await sleep(MINUTE);
}

/** Does statements on a member, as a DBA. */
async function administer(cluster: Cluster, number: number, statements: string[]): Promise<void> {
  const client = await cluster.connectTo(number);
  try {
    for (const statement of statements) await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Sets something for the role of the service, for half a minute. Each of its connections is ended before and after. */
async function limit(cluster: Cluster, set: string[], reset: string): Promise<void> {
  const primary = await cluster.primary();
  const end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'catalogue'";
  await administer(cluster, primary, [...set, end]);
  await sleep(30_000);
  await administer(cluster, primary, [reset, end]);
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
    await switchOver(cluster, await cluster.primary());
  },
  'The primary is paused': async (cluster) => pausePrimary(cluster, await cluster.primary()),
  'The primary is paused, behind a TCP proxy': (cluster) =>
    behindProxy(cluster, (primary, follow) => pausePrimary(cluster, primary, follow)),
  'The primary becomes a replica, behind a TCP proxy': (cluster) =>
    behindProxy(cluster, async (former, follow) => {
      await switchOver(cluster, former);
      await follow();
      await sleep(MINUTE);
    }),
  'The primary becomes read-only, behind a TCP proxy': (cluster) =>
    behindProxy(cluster, async (former, follow) => {
      const reload = 'SELECT pg_reload_conf()';
      const parameter = 'default_transaction_read_only';
      await administer(cluster, former, [`ALTER SYSTEM SET ${parameter} = on`, reload]);
      await abandoned(cluster, former, follow);
      await administer(cluster, former, [`ALTER SYSTEM RESET ${parameter}`]);
      await cluster.replace(former);
    }),
  'The primary is left writable, behind a TCP proxy': (cluster) =>
    behindProxy(cluster, async (former, follow) => {
      await abandoned(cluster, former, follow);
      await cluster.replace(former);
    }),
  'The primary is killed beside a flood of waits': async (cluster, readers) => {
    const end = readers.flood(FLOOD);
    try {
      await sleep(5000);
      await killPrimary(cluster, await cluster.primary());
      await sleep(5000);
    } finally {
      await end();
    }
  },
  'A DBA limits times, and ends connections': (cluster) =>
    limit(
      cluster,
      [
        "ALTER ROLE catalogue SET statement_timeout = '50ms'",
        "ALTER ROLE catalogue SET lock_timeout = '10ms'",
        "ALTER ROLE catalogue SET idle_session_timeout = '1s'",
        "ALTER ROLE catalogue SET idle_in_transaction_session_timeout = '10ms'",
      ],
      'ALTER ROLE catalogue RESET ALL',
    ),
  'A DBA limits connections to eight, and ends them': (cluster) =>
    limit(
      cluster,
      ['ALTER ROLE catalogue CONNECTION LIMIT 8'],
      'ALTER ROLE catalogue CONNECTION LIMIT -1',
    ),
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
