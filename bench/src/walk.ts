import type { Contender } from './contenders.js';

/** Seconds after each quarter of a walk over all products by `limit` and `offset`. */
export async function walk(contender: Contender, rows: number): Promise<number[]> {
  const limit = 1000;
  const started = performance.now();
  const quarters: number[] = [];
  let seen = 0;
  let last = '';
  for (let offset = 0; offset < rows; offset += limit) {
    const path = contender.path({ limit, offset, fields: ['productID', 'name'] });
    const response = await fetch(contender.server.address + path, { headers: contender.headers });
    const { response_data: data } = (await response.json()) as {
      response_data: { objects: { productID: string }[] };
    };
    seen += data.objects.length;
    for (const { productID } of data.objects) {
      if (productID <= last) throw new Error(`The walk saw ${productID} after ${last}`);
      last = productID;
    }
    while (quarters.length < 4 && offset + limit >= (rows * (quarters.length + 1)) / 4) {
      quarters.push((performance.now() - started) / 1000);
    }
  }
  if (seen !== rows) throw new Error(`The walk saw ${seen} of ${rows} products`);
  return quarters;
}
