import { connectedTo } from '#server/testing/database.js';
import { hashOf, newToken } from '#server/clients/token.js';

/** Credentials of a client, as headers. */
export type Credentials = Readonly<Record<string, string>>;

/**
 * Loads what tests need that start the service themselves: clients without a rate limit, and brands `b0`,
 * `b1` … called `Brand 0`, `Brand 1` …
 *
 * @param url of a migrated database
 * @param clients their IDs
 * @param brands the number of brands
 */
export async function loadBrands<ID extends string>(
  url: string,
  clients: readonly ID[],
  brands: number,
): Promise<Readonly<Record<ID, Credentials>>> {
  const loader = await connectedTo(url);
  const credentials: Partial<Record<ID, Credentials>> = {};
  for (const clientID of clients) {
    const token = newToken();
    await loader.query('INSERT INTO clients ("clientID", "rateLimit") VALUES ($1, 0)', [clientID]);
    await loader.query(
      'INSERT INTO access_tokens ("tokenID", "clientID", hash) VALUES ($1, $1, $2)',
      [clientID, hashOf(token)],
    );
    credentials[clientID] = { 'X-Client-ID': clientID, Authorization: `Bearer ${token}` };
  }
  await loader.query(
    `INSERT INTO brands ("brandID", name)
     SELECT 'b' || i, 'Brand ' || i FROM generate_series(0, $1 - 1) i`,
    [brands],
  );
  await loader.end();
  return credentials as Record<ID, Credentials>;
}
