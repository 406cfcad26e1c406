import type { Response } from 'express';
import type { CatalogueRequest } from '../../http/catalogue-request.js';
import type { PreparedPage } from '../reading/prepared-list.js';
import type { ReadLimit } from './read-limit.js';

/** Whether a list is versioned. If its conditions are not plain, finding out may need a read. */
export async function isVersioned(
  list: PreparedPage,
  readLimit: ReadLimit,
  request: CatalogueRequest,
  response: Response,
): Promise<boolean> {
  return (
    list.isPlain || (await readLimit.runFor(list, request, response, () => list.isVersioned()))
  );
}
