import { createWriteStream } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { startAlone } from './contenders.js';
import { dropDatabase, newDatabase, query, tallyIsCut } from './database.js';
import { type Disk, disk } from './disk.js';
import { fillRanks } from './fill.js';
import type { Effort } from './measure.js';
import { type ListMeasurement, measureLists } from './measure-lists.js';
import { catalogue, PROJECT, residentMemory } from './processes.js';
import { productFile } from './storefront-data.js';
import { STOREFRONT, StorefrontRequests } from './storefront.js';

/** What grows with the number of products. */
export interface Growth {
  /** Seconds of an import into an empty table. */
  readonly imported: number;
  readonly lists: readonly ListMeasurement[];
  /** MiB of the service after these lists. */
  readonly memory: readonly number[];
  readonly disk: Disk;
}

/** Imports so many products into a new database, and measures their lists and what they take. */
export async function growth(server: string, rows: number, effort: Effort): Promise<Growth> {
  const name = 'catalogue_bench_growth';
  const file = join(PROJECT, 'bench', '.data', 'growth.csv');
  const url = await newDatabase(server, name);
  try {
    await fillRanks(url);
    await mkdir(dirname(file), { recursive: true });
    await pipeline(Readable.from(productFile(rows)), createWriteStream(file));
    await query(url, 'CHECKPOINT');
    console.error(`Importing ${rows} products`);
    const { seconds: imported } = await catalogue(['import', 'products', file], url);
    await query(url, 'VACUUM ANALYZE');
    const measured = await served(url, rows, effort);
    console.error('Disk and writes');
    return { imported, ...measured, disk: await disk(url, rows) };
  } finally {
    await dropDatabase(server, name);
    await rm(file, { force: true });
  }
}

/** Measures the lists of a service, and ends it: nobody else may use the database while its disk is measured. */
async function served(
  url: string,
  rows: number,
  effort: Effort,
): Promise<Pick<Growth, 'lists' | 'memory'>> {
  const service = await startAlone(url);
  try {
    await tallyIsCut(url);
    console.error('Lists of a storefront');
    const requests = new StorefrontRequests(rows);
    const lists = await measureLists([service], STOREFRONT, requests, { url, rows }, effort);
    return { lists, memory: [await residentMemory(service.server.pid)] };
  } finally {
    await service.server.stop();
  }
}
