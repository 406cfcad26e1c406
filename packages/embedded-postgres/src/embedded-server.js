import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openCluster, passwordOf } from './cluster.js';
import { connect } from './connection.js';
import { hostOf } from './postgres-process.js';
import { EmbeddedPostgresError, messageOf } from './errors.js';

/** Delay between two attempts to start a supervisor whose server does not start. */
const RETRY_DELAY_MS = 1_000;

/** @type {typeof import('../index.js').embeddedServer} */
export async function embeddedServer(
  dataDir,
  { name = 'postgres', settings = {}, onNotice = console.error } = {},
) {
  const directory = resolve(dataDir);
  const cluster = await openCluster(directory, name, onNotice);
  const user = `${encodeURIComponent(name)}:${await passwordOf(cluster)}`;
  let connection = await connect(cluster, settings);
  const released = new AbortController();
  const isReleased = () => released.signal.aborted;
  const host = hostOf(settings);
  /** @type {string | undefined} */
  let claimed;

  const claim = async (/** @type {string} */ holder) => {
    const other = await connection.claim(holder);
    if (other !== undefined) throw new EmbeddedPostgresError(`${directory} is in use by ${other}`);
    claimed = holder;
  };

  /** Connects again after the supervisor was killed, and claims again what was claimed. */
  const keepConnected = async () => {
    for (await connection.closed; !isReleased(); await connection.closed) {
      try {
        connection = await connect(cluster, settings);
        if (isReleased()) await connection.end();
        else if (claimed !== undefined) await claim(claimed);
      } catch (error) {
        // If the server does not start, queries of this process fail, too.
        onNotice(messageOf(error));
        // Another process may have claimed the directory. This one claims it again, on a new connection.
        await connection.end();
        const delay = { ref: false, signal: released.signal };
        await sleep(RETRY_DELAY_MS, undefined, delay).catch(() => undefined);
      }
    }
  };
  const kept = keepConnected();

  return {
    url: `postgres://${user}@${host.includes(':') ? `[${host}]` : host}:${connection.port}/${encodeURIComponent(name)}?sslmode=disable`,
    claim,
    async release() {
      released.abort();
      await connection.end();
      await kept;
    },
  };
}
