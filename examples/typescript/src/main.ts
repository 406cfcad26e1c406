import { Catalogue } from './catalogue.js';

const {
  CATALOGUE_URL: url = 'http://127.0.0.1:3000',
  CLIENT_ID: clientID = 'demo',
  ACCESS_TOKEN: token = 'demo-token',
} = process.env;
const catalogue = new Catalogue({ url, clientID, token });

const page = await catalogue.page('/products', { type: ['PHYSICAL', 'DIGITAL'], limit: 3 });
if (page.ok) {
  console.log(`${page.count} products, among them`);
  for (const { productID, name, price, currency } of page.objects) {
    console.log(`  ${productID}: ${name ?? 'without a name'}, ${price ?? '–'} ${currency ?? ''}`);
  }
} else {
  console.error(`Refused with ${page.errcode}: ${page.message}`);
}

const names = new Set<string | null>();
for await (const { name } of catalogue.all('/brands', { fields: ['name'] }))
  names.add(name ?? null);
console.log(`${names.size} brands by name`);
