import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { migrateDatabase } from '../schema/declared.js';
import { Catalogue } from '../packages/catalogue.js';
import { type Service, startService } from '../service.js';
import { until } from '../until.js';
import { Gate } from './gate.js';
import { OwnServer } from './own-server.js';

let primary: OwnServer;
let standby: OwnServer;
/** By which the standby receives the log. */
let link: Gate;
/** By which the service reaches the primary. */
let entrance: Gate;
let service: Service;
let copy: Copy;

/** A copy of the brands, and how often it was begun. */
class Copy {
  readonly objects = new Map<string, unknown>();
  begun = 0;
  afterPut = (): Promise<void> => Promise.resolve();
  private cursor: string | undefined;

  async mirror(): Promise<void> {
    const { clientID, token, port } = service;
    const url = `http://127.0.0.1:${port}`;
    const catalogue = new Catalogue({ url, clientID, accessToken: token });
    const save = (cursor: string | undefined) => {
      this.cursor = cursor;
    };
    const fields = { brands: ['brandID', 'name'] } as const;
    await catalogue.mirror({ brands: this }, { cursor: this.cursor, save, fields }).round();
  }

  clear(): void {
    this.begun += 1;
    this.objects.clear();
  }

  async put(objects: readonly { readonly brandID: string }[]): Promise<void> {
    for (const object of objects) this.objects.set(object.brandID, object);
    await this.afterPut();
  }

  delete(identifiers: readonly string[]): void {
    for (const identifier of identifiers) this.objects.delete(identifier);
  }
}

beforeEach(async () => {
  primary = await OwnServer.create();
  await migrateDatabase(primary.url);
  link = await Gate.before(primary.url);
  standby = await primary.replica(link.url);
  entrance = await Gate.before(primary.url);
  service = await startService({ DATABASE_URL: entrance.url });
  await write('first', 'second');
  for (let beats = 0; beats < 2; beats += 1) await advance();
  copy = new Copy();
  await copy.mirror();
});
afterEach(async () => {
  await service.stop();
  await entrance.shut();
  await link.shut();
  await standby.remove();
  await primary.remove();
});

/** Advances the watermark, as maintenance does each second. */
const advance = (server = primary) => server.query(`SELECT advance_watermark('1 ms')`);

const write = (...names: string[]) =>
  primary.query(
    `INSERT INTO brands ("brandID", name) VALUES ${names.map((name) => `('${name}', '${name}')`).join()}`,
  );

/** Waits until the standby has all that the primary has. */
async function replicated(): Promise<void> {
  const [row] = await primary.query<{ lsn: string }>('SELECT pg_current_wal_flush_lsn() AS lsn');
  await until(async () => {
    const [found] = await standby.query<{ has: boolean }>(
      `SELECT pg_last_wal_replay_lsn() >= '${row?.lsn}' AS has`,
    );
    return found?.has === true;
  });
}

async function failOver(): Promise<void> {
  await link.shut();
  await primary.stop('SIGKILL');
  await standby.query('SELECT pg_promote()');
  entrance.lead(standby.url);
}

async function expectExact(): Promise<void> {
  const rows = await standby.query<{ brandID: string }>('SELECT "brandID", name FROM brands');
  expect([...copy.objects.values()].sort()).toEqual(rows.sort());
}

/** Fails over, and expects that the copy learns of what was lost. */
async function expectBegunAgain(): Promise<void> {
  await failOver();
  await advance(standby);
  await copy.mirror();
  await expectExact();
  expect(copy.begun).toBe(2);
}

it('A copy goes on after a failover that loses nothing, and after a restart', async () => {
  await write('third');
  await copy.mirror();
  await replicated();
  await failOver();
  await advance(standby);
  await standby.query(`DELETE FROM brands WHERE "brandID" = 'first'`);
  for (let rounds = 0; rounds < 2; rounds += 1) {
    await copy.mirror();
    await expectExact();
    await standby.stop();
    await standby.start();
  }
  expect(copy.begun).toBe(1);
});

it('A copy that has what was lost begins again, and one that has not goes on', async () => {
  await replicated();
  const kept = copy;
  await link.shut();
  await write('third');
  copy = new Copy();
  await copy.mirror();
  expect(copy.objects.has('third')).toBe(true);
  await expectBegunAgain();
  copy = kept;
  await copy.mirror();
  await expectExact();
  expect(copy.begun).toBe(1);
});

it('A copy begins again if it has what was lost from a round that failed', async () => {
  await replicated();
  await link.shut();
  await write('third');
  copy.afterPut = () => Promise.reject(new Error('The disk is full'));
  await expect(copy.mirror()).rejects.toThrow('disk');
  expect(copy.objects.has('third')).toBe(true);
  copy.afterPut = () => Promise.resolve();
  await expectBegunAgain();
});

it('A copy waits until the history after a failover has begun', async () => {
  await replicated();
  await failOver();
  const going = copy.mirror();
  // Two refusals of its requests.
  await until(() => service.get('/brands').then(({ status }) => status === 200));
  await advance(standby);
  await going;
  await expectExact();
  expect(copy.begun).toBe(1);
});
