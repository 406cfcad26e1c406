import { fileURLToPath } from 'node:url';
import type { DataSource } from 'typeorm';
import { AccessToken } from '../clients/access-token.entity.js';
import { Client } from '../clients/client.entity.js';
import { hashOf } from '../clients/token.js';
import { type FileRow, rowsOf } from '../import/file-rows.js';
import { importRows } from '../import/import-rows.js';
import { openSource, textOf } from '../import/source.js';
import { resourcesWith } from '../resource/capabilities.js';

export const DEMO_CLIENT = 'demo';
export const DEMO_TOKEN = 'demo-token';

/** The resources of the demonstration catalogue, in an order that satisfies references. */
export const DEMO_RESOURCES = ['brands', 'categories', 'products', 'variants'] as const;

/**
 * Loads the demonstration catalogue and its client in one transaction, once. A catalogue that already
 * has objects gets the client alone.
 *
 * @throws CommandError if a file of the catalogue cannot be read
 */
export async function loadDemonstration(dataSource: DataSource): Promise<void> {
  await dataSource.transaction(async (manager) => {
    if (await manager.existsBy(Client, { clientID: DEMO_CLIENT })) return;
    const { queryRunner } = manager;
    const resources = resourcesWith('written', dataSource);
    let isNew = true;
    for (const { target } of resources.values()) isNew &&= !(await manager.exists(target));
    for (const resource of isNew ? DEMO_RESOURCES : []) {
      const metadata = resources.get(resource);
      if (!queryRunner || !metadata) throw new TypeError(`There is no resource ${resource}`);
      const options = { map: new Map(), set: new Map(), replace: false };
      await importRows(queryRunner, metadata, demoRows(resource), options);
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

/** Whether the token of the demonstration, which everybody knows, is accepted. */
export async function isDemonstrationOpen(dataSource: DataSource): Promise<boolean> {
  const [{ open }] = await dataSource.query<[{ open: boolean }]>(
    `SELECT EXISTS (
       SELECT FROM access_tokens JOIN clients USING ("clientID")
       WHERE "clientID" = $1 AND hash = $2 AND NOT disabled
       AND ("expiresAt" IS NULL OR "expiresAt" > now())
     ) AS open`,
    [DEMO_CLIENT, hashOf(DEMO_TOKEN)],
  );
  return open;
}

/** The rows of `demo/<resource>.csv`, in batches. `catalogue import` reads the same files. */
export async function* demoRows(
  resource: (typeof DEMO_RESOURCES)[number],
): AsyncGenerator<FileRow[]> {
  // The path is the same from src/demo and from dist/demo.
  const file = fileURLToPath(new URL(`../../demo/${resource}.csv`, import.meta.url));
  yield* rowsOf('csv', textOf((await openSource(file)).stream));
}
