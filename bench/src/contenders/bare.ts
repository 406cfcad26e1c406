import { createServer } from 'node:http';
import pg from 'pg';
import { envelope, FIELDS } from './product.js';

/** What one writes by hand for speed: node:http and pg, a prepared statement, nothing checked or counted. */

// Left to choose, PostgreSQL takes a plan for a deep page that is several times as slow or not,
// depending on what the connection was asked before.
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  options: '-c plan_cache_mode=force_generic_plan',
  max: 10,
});
const COLUMNS = FIELDS.map((field) => `"${field}"`).join(', ');

async function answer(url: string): Promise<string> {
  const { searchParams } = new URL(url, 'http://bare');
  const { rows } = await pool.query<object>({
    name: 'page',
    text: `SELECT ${COLUMNS} FROM products ORDER BY "productID" LIMIT $1 OFFSET $2`,
    values: [Number(searchParams.get('limit') ?? 50), Number(searchParams.get('offset') ?? 0)],
  });
  return JSON.stringify(envelope('', rows));
}

const server = createServer((request, response) => {
  answer(request.url ?? '').then(
    (body) => {
      response.writeHead(200, {
        'Content-Type': 'application/json; charset=utf-8',
        'Content-Length': Buffer.byteLength(body),
      });
      response.end(body);
    },
    (error: unknown) => {
      response.writeHead(500).end(String(error));
    },
  );
});
server.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as { port: number }).port}`);
});
