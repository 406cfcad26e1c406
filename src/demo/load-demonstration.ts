import type { DataSource } from 'typeorm';
import { AccessToken } from '../clients/access-token.entity.js';
import { Client } from '../clients/client.entity.js';
import { hashOf } from '../clients/token.js';
import type { FileRow } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { resourcesOf } from '../resource/resource.js';
import { demoCatalogue, type DemoResource } from './demo-catalogue.js';

export const DEMO_CLIENT = 'demo';
export const DEMO_TOKEN = 'demo-token';

/**
 * Loads the demonstration catalogue and its client, all or nothing, where that has not been done
 * yet. A catalogue that already holds something of somebody's own gets the client alone.
 */
export async function loadDemonstration(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(async (manager) => {
    if (await manager.existsBy(Client, { clientID: DEMO_CLIENT })) return;
    const { queryRunner } = manager;
    const resources = resourcesOf(dataSource);
    let isNew = true;
    for (const { target } of resources.values()) isNew &&= !(await manager.exists(target));
    for (const demo of isNew ? demoCatalogue : []) {
      const metadata = resources.get(demo.resource);
      if (!queryRunner || !metadata) throw new TypeError(`There is no resource ${demo.resource}`);
      const options = { map: new Map(), set: new Map(), replace: false };
      await importRows(queryRunner, metadata, fileRows(demo), options);
    }
    await manager.insert(Client, { clientID: DEMO_CLIENT, name: 'The demonstration' });
    await manager.insert(AccessToken, {
      tokenID: DEMO_CLIENT,
      clientID: DEMO_CLIENT,
      hash: hashOf(DEMO_TOKEN),
      expiresAt: null,
    });
  });
}

// eslint-disable-next-line @typescript-eslint/require-await -- an import reads files, which come late
async function* fileRows(demo: DemoResource): AsyncGenerator<FileRow[]> {
  const rows = [...demo.rows()];
  const columns = Object.keys(rows[0] ?? {});
  yield rows.map((row, at) => ({ line: at + 1, columns, cells: Object.values(row) }));
}
