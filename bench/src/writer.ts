import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/**
 * Commits ten small changes a second until told to stop, and leaves what it found: what it deletes
 * it puts back at once, what it inserts it takes away.
 */
const client = new pg.Client(process.argv[2]);
await client.connect();
const told = new AbortController();
process.once('SIGTERM', () => {
  told.abort();
});
console.log('http://127.0.0.1:0');

const any = `(SELECT "productID" FROM products WHERE "productID" >= 'p-' || lpad($1::bigint::text, 8, '0')
              ORDER BY "productID" LIMIT 1)`;
const changes = [
  `UPDATE products SET price = 1 + $1::bigint % 99 WHERE "productID" = ${any}`,
  `UPDATE products SET stock = $1::bigint % 50 WHERE "productID" = ${any}`,
  `UPDATE products SET "categoryID" = 'c' || lpad(($1::bigint % 300)::text, 3, '0') WHERE "productID" = ${any}`,
  `INSERT INTO products ("productID", type) VALUES ('writer-' || $1::bigint, 'DIGITAL')`,
  `DELETE FROM products WHERE "productID" LIKE 'writer-%' AND $1::bigint >= 0`,
];
for (let at = 0; !told.signal.aborted; at += 1) {
  const started = performance.now();
  await client.query(changes[at % changes.length] ?? '', [(at * 7919) % 9000]);
  await sleep(Math.max(0, 100 - (performance.now() - started)));
}
await client.query(`DELETE FROM products WHERE "productID" LIKE 'writer-%'`);
await client.end();
