// Keeps a search index of the products in memory, and answers each line of its input: first the products with all
// its words, also with their beginnings and with typing errors, the best ten. An empty line gives all products.
// CATALOGUE_URL, CLIENT_ID and ACCESS_TOKEN say whose products.
import { createInterface } from 'node:readline';
import { CatalogueConnectionError, Resource, Transport } from '@catalogue/client';
import MiniSearch from 'minisearch';

const transport = new Transport({
  url: process.env.CATALOGUE_URL ?? 'http://127.0.0.1:3000',
  clientID: process.env.CLIENT_ID ?? 'demo',
  accessToken: process.env.ACCESS_TOKEN ?? 'demo-token',
  // As long as it takes: what is in the index can be searched meanwhile.
  maxRetries: Infinity,
  maxRetryTime: Infinity,
  onRetry: ({ message }, pause) => console.error(`${message}: again in ${pause / 1000} s`),
});
const products = new Resource(transport, 'products', 'productID');

const fields = ['productID', 'name', 'description', 'price', 'currency'];
const index = new MiniSearch({
  idField: 'productID',
  fields: ['name', 'description'],
  storeFields: fields,
  searchOptions: { combineWith: 'AND', prefix: true, fuzzy: 0.2, boost: { name: 2 } },
});
/** The index is in memory, and so is its cursor: the process begins with a new copy. */
let cursor;
const store = {
  save(next) {
    cursor = next;
  },
  clear: () => index.removeAll(),
  put(products) {
    for (const product of products) {
      if (index.has(product.productID)) index.replace(product);
      else index.add(product);
    }
  },
  delete(identifiers) {
    for (const productID of identifiers) if (index.has(productID)) index.discard(productID);
  },
};

async function follow() {
  try {
    // But for the first, a round begins when something has changed, or a minute is nearly over.
    await products.mirror({ store, cursor, fields, wait: 50 });
  } catch (error) {
    // A response that ended early. The next round begins where this one did.
    if (!(error instanceof CatalogueConnectionError)) throw error;
    console.error(error.message);
  }
}

async function keepFollowing() {
  for (;;) {
    await follow();
  }
}

await follow();
void keepFollowing();
for await (const words of createInterface({ input: process.stdin })) {
  const found = words ? index.search(words).slice(0, 10) : index.search(MiniSearch.wildcard);
  for (const hit of found) {
    console.log(JSON.stringify(Object.fromEntries(fields.map((field) => [field, hit[field]]))));
  }
  console.log();
}
// Once all answers are written.
process.stdout.write('', () => process.exit());
