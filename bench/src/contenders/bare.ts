import { createServer } from 'node:http';
import pg from 'pg';
import { envelope, FIELDS } from './product.js';

/**
 * What one writes by hand for speed: node:http and pg, statements prepared, nothing checked.
 * Arguments: `rows` or `json` (who makes the JSON), `count` or nothing.
 */
const [form, counting] = process.argv.slice(2);

// Left to choose, PostgreSQL takes a plan for a deep page that is several times as slow or not,
// depending on what the connection was asked before.
const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  options: '-c plan_cache_mode=force_generic_plan',
  max: 10,
});

interface Question {
  readonly fields: readonly string[];
  readonly type: string | null;
  readonly limit: number;
  readonly offset: number;
}

function question(url: string): Question {
  const { searchParams } = new URL(url, 'http://bare');
  return {
    fields: searchParams.get('fields')?.split(',') ?? FIELDS,
    type: searchParams.get('type'),
    limit: Number(searchParams.get('limit') ?? 50),
    offset: Number(searchParams.get('offset') ?? 0),
  };
}

function page({ fields, type, limit, offset }: Question): { text: string; values: unknown[] } {
  const columns = fields.map(quoted).join(', ');
  return {
    text: `SELECT ${columns} FROM products ${type === null ? '' : 'WHERE type = $3'}
           ORDER BY "productID" LIMIT $1 OFFSET $2`,
    values: [limit, offset, ...(type === null ? [] : [type])],
  };
}

function quoted(field: string): string {
  return `"${field}"`;
}

/**
 * PostgreSQL's JSON has a price as a number, and a time with as few digits as it needs. Outside the
 * page, since what stands beside an OFFSET is worked out for the skipped rows as well.
 */
function publicForm(field: string): string {
  if (field === 'price') return 'price::text';
  if (!field.endsWith('At')) return quoted(field);
  return `to_char("${field}" AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') AS "${field}"`;
}

const names = new Map<string, string>();

async function prepared<Row extends object>(text: string, values: unknown[]): Promise<Row[]> {
  const name = names.get(text) ?? `statement ${names.size}`;
  names.set(text, name);
  const { rows } = await pool.query<Row>({ name, text, values });
  return rows;
}

async function count({ type }: Question): Promise<string> {
  if (counting !== 'count') return '';
  const [row] = await prepared<{ count: string }>(
    type === null
      ? 'SELECT count(*) FROM products'
      : 'SELECT count(*) FROM products WHERE type = $1',
    type === null ? [] : [type],
  );
  return row?.count ?? '';
}

async function answer(asked: Question): Promise<string> {
  const { text, values } = page(asked);
  if (form === 'json') {
    const [[row], total] = await Promise.all([
      prepared<{ objects: string }>(
        `SELECT coalesce(json_agg(object), '[]')::text AS objects
         FROM (SELECT ${asked.fields.map(publicForm).join(', ')} FROM (${text}) page) object`,
        values,
      ),
      count(asked),
    ]);
    return `{"result":{"status":"OK","errcode":"0","msg":""},"response_data":{"count":"${total}","objects":${row?.objects ?? ''}}}`;
  }
  const [objects, total] = await Promise.all([prepared(text, values), count(asked)]);
  return JSON.stringify(envelope(total, objects));
}

const server = createServer((request, response) => {
  answer(question(request.url ?? '')).then(
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
