import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { FoldWords1764460800000 } from '../../src/database/migrations/1764460800000-fold-words.js';
import { findViolations } from '../../src/verify/verify.js';
import { type Service, startService } from '../service.js';

let service: Service;

beforeAll(async () => {
  service = await startService({ PAGE_CACHE_MB: '0' });
});
afterAll(() => service.stop());

const query = <Row>(text: string) => service.dataSource.query<Row[]>(text);

async function migrate(direction: 'up' | 'down'): Promise<void> {
  const runner = service.dataSource.createQueryRunner();
  await runner.startTransaction();
  try {
    await new FoldWords1764460800000()[direction](runner);
    await runner.commitTransaction();
  } finally {
    await runner.release();
  }
}

/** Each object without its words, and the states of the triggers. */
const others = () =>
  query(
    `SELECT to_jsonb(products) - 'words' AS object FROM products
     UNION ALL SELECT to_jsonb(tally) FROM products_tally tally
     UNION ALL SELECT to_jsonb(deletion) FROM products_deletions deletion
     UNION ALL SELECT jsonb_build_array(tgname, tgenabled) FROM pg_trigger
       WHERE tgrelid = 'products'::regclass AND NOT tgisinternal
     ORDER BY object`,
  );

async function countOf(words: string): Promise<string> {
  const { body } = await service.get(`/products?q=${encodeURIComponent(words)}`).expect(200);
  return body.response_data.count as string;
}

describe('The migration to folded words', () => {
  it('goes back and forth, computes the words of every product, and changes nothing else', async () => {
    await migrate('down');
    await query(
      `INSERT INTO products ("productID", type, name, description) VALUES
         ('p1', 'DIGITAL', 'Café', 'au lait'), ('p2', 'DIGITAL', NULL, NULL)`,
    );
    expect(await query(`SELECT words::text FROM products ORDER BY 1 DESC`)).toEqual([
      { words: `'au':2 'café':1 'lait':3` },
      { words: '' },
    ]);
    // It stays disabled.
    await query('ALTER TABLE products DISABLE TRIGGER products_in_stock');
    const before = await others();
    await migrate('up');
    expect(await others()).toEqual(before);
    await query('ALTER TABLE products ENABLE TRIGGER products_in_stock');
    expect(await countOf('cafe lait')).toBe('1');
    expect(await query(`SELECT words::text FROM products ORDER BY 1 DESC`)).toEqual([
      { words: `'^cafe' 'au' 'cafe' 'lait'` },
      { words: '' },
    ]);
    await query(`UPDATE products SET description = 'Crème' WHERE "productID" = 'p1'`);
    expect(await countOf('creme')).toBe('1');
    expect(await findViolations(service.application)).toEqual([]);
  });

  it('changes the version, so that no page of before is served', async () => {
    const versions = () => query('SELECT count(*) FROM resource_versions');
    const before = await versions();
    await query(`SELECT rebuild_words('products')`);
    expect(await versions()).not.toEqual(before);
  });

  it('takes over the trigger of a resource that was generated before', async () => {
    await migrate('down');
    await query(
      `CREATE TABLE parts ("partID" varchar(100) COLLATE "C" PRIMARY KEY, label text, note text, words tsvector NOT NULL)`,
    );
    await query(
      `CREATE FUNCTION "keep_parts_words"() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
   BEGIN
     NEW."words" := to_tsvector('simple', search_text(concat_ws(' ', NEW."label", NEW."note")));
     RETURN NEW;
   END $$`,
    );
    await query(
      `CREATE TRIGGER "parts_words" BEFORE INSERT OR UPDATE OF "label", "note" ON "parts"
       FOR EACH ROW EXECUTE FUNCTION "keep_parts_words"()`,
    );
    await query(`INSERT INTO parts VALUES ('a', 'Écrou', 'M6')`);
    await migrate('up');
    await query(`INSERT INTO parts VALUES ('b', 'Vis', 'Écrou')`);
    // Writers come with search paths of their own.
    await query(
      `BEGIN; SET LOCAL search_path = pg_catalog; INSERT INTO public.parts VALUES ('c', 'M6'); COMMIT`,
    );
    expect(await query('SELECT words::text FROM parts ORDER BY "partID"')).toEqual([
      { words: `'^ecrou' 'ecrou' 'm6'` },
      { words: `'^vis' 'ecrou' 'vis'` },
      { words: `'^m6' 'm6'` },
    ]);
    await query(`SELECT remove_words('parts')`);
    await query('DROP TABLE parts');
  });
});
