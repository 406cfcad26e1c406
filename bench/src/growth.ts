import { withService } from './contenders.js';
import { query, tallyIsCut } from './database.js';
import { disk } from './disk.js';
import { withFile } from './fill.js';
import type { Effort } from './measure.js';
import { measureLists } from './measure-lists.js';
import { catalogue, residentMemory } from './processes.js';
import type { Results } from './report.js';
import { STOREFRONT, StorefrontRequests } from './storefront.js';

/** Imports so many products into a new database, and measures their lists and what they take. */
export function growth(
  server: string,
  rows: number,
  effort: Effort,
): Promise<Pick<Results, 'imported' | 'lists' | 'memory' | 'disk'>> {
  return withFile(server, rows, async (url, file) => {
    console.error(`Importing ${rows} products`);
    const { seconds: imported } = await catalogue(['import', 'products', file], url);
    await query(url, 'VACUUM ANALYZE');
    // It ends before the disk is measured: nobody else may use the database then.
    const served = await withService(url, async (service) => {
      await tallyIsCut(url);
      const requests = new StorefrontRequests(rows);
      const lists = await measureLists([service], STOREFRONT, requests, { url, rows }, effort);
      return { lists, memory: [await residentMemory(service.server.pid)] };
    });
    return { imported, ...served, disk: await disk(url, rows) };
  });
}
