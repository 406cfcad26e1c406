import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/**
 * Commits ten small changes a second, all over the catalogue, until told to stop. Leaves as many
 * products of each type as it found: what it inserts and what it moves it takes back.
 * Arguments: the URL of the database, the number of products.
 */
const client = new pg.Client({ connectionString: process.argv[2], application_name: 'writer' });
await client.connect();
const told = new AbortController();
process.once('SIGTERM', () => {
  told.abort();
});
console.log('http://127.0.0.1:0');

const rows = Number(process.argv[3]);
const it = `'p-' || lpad($1::bigint::text, 8, '0')`;
const changes = [
  `UPDATE products SET price = 1 + $1::bigint % 99 WHERE "productID" = ${it}`,
  `UPDATE products SET stock = $1::bigint % 50 WHERE "productID" = ${it}`,
  `UPDATE products SET "categoryID" = 'c' || lpad(($1::bigint % 500)::text, 4, '0') WHERE "productID" = ${it}`,
  // Identifiers between those there are, so that pages behind them move.
  `INSERT INTO products ("productID", type) VALUES (${it} || '-writer', 'DIGITAL')`,
  `UPDATE products SET type = 'PHYSICAL' WHERE "productID" = ${it} || '-writer'`,
  `DELETE FROM products WHERE "productID" = ${it} || '-writer'`,
];
for (let at = 0; !told.signal.aborted; at += 1) {
  const started = performance.now();
  // The golden ratio spreads them evenly; what belongs together meets the same product.
  const round = Math.floor(at / changes.length);
  const product = Math.floor(((round * 0.618034) % 1) * rows);
  await client.query(changes[at % changes.length] ?? '', [product]);
  await sleep(Math.max(0, 100 - (performance.now() - started)));
}
await client.query(`DELETE FROM products WHERE "productID" LIKE '%-writer'`);
await client.end();
