// Keeps a search index of the products in memory, beside the names of their brands, and answers each line of its input:
// first the products with all its words, also with their beginnings and with typing errors, the best ten. An empty line
// gives all products, and `?` how old the copy is.
// CATALOGUE_URL, CLIENT_ID and ACCESS_TOKEN say whose products.
import { createInterface } from 'node:readline';
import { CatalogueConnectionError, Mirror, Transport } from '@catalogue/client';
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

const fields = ['productID', 'name', 'description', 'price', 'currency', 'brandID'];
const index = new MiniSearch({
  idField: 'productID',
  fields: ['name', 'description'],
  storeFields: fields,
  searchOptions: { combineWith: 'AND', prefix: true, fuzzy: 0.2, boost: { name: 2 } },
});
/** The names of the brands. */
const brands = new Map();

const mirror = new Mirror(
  transport,
  {
    products: {
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
    },
    brands: {
      clear: () => brands.clear(),
      put(changed) {
        for (const { brandID, name } of changed) brands.set(brandID, name);
      },
      delete(identifiers) {
        for (const brandID of identifiers) brands.delete(brandID);
      },
    },
  },
  // The copy is in memory, and so is its cursor: the process begins with a new one.
  { fields: { products: fields, brands: ['name'] }, save() {} },
);

async function follow() {
  try {
    // But for the first, a round begins when something has changed, or a minute is nearly over.
    await mirror.round({ wait: 50 });
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
  if (words === '?') {
    const { age, updatedUntil } = mirror.status();
    console.log(`${(age / 1000).toFixed(1)} s old, with every change before ${updatedUntil}`);
    continue;
  }
  const found = words ? index.search(words).slice(0, 10) : index.search(MiniSearch.wildcard);
  for (const hit of found) {
    const product = Object.fromEntries(fields.map((field) => [field, hit[field]]));
    console.log(JSON.stringify({ ...product, brand: brands.get(hit.brandID) }));
  }
  console.log();
}
// Once all answers are written.
process.stdout.write('', () => process.exit());
