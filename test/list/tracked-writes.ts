import type { Random } from '../random.js';
import { WareState } from './tracked.fixture.js';

/** Statements that an owner might run, of each kind one. */
export function ownerWrites(random: Random, table: string): string[] {
  const one = () => (table === 'wares' ? `'w${random.below(60)}'` : String(970 + random.below(60)));
  const other = one();
  const state = () => `'${random.pick(Object.values(WareState))}'`;
  const values = (key = one()) =>
    `(${key}, ${state()}, ${random.pick(['true', 'false', 'NULL'])}, ${random.below(4) - 1}, ${random.below(9)})`;
  const into = `INTO "Shop".${table} (ware_id, state, active, shelf, price)`;
  const part = random.pick(['low_wares', 'high_wares']);
  const kept = `ON CONFLICT (ware_id) DO UPDATE SET state = excluded.state, shelf = excluded.shelf`;
  const series = table === 'wares' ? `'w' || i` : '970 + i';
  const refill = (first: number) =>
    `INSERT ${into} SELECT ${series}, 'new', i % 2 = 0, i % 4, i FROM generate_series(${first}, 60) i ${kept}`;
  return [
    `INSERT ${into} VALUES ${values()} ON CONFLICT DO NOTHING`,
    `INSERT ${into} VALUES ${values()} ${kept}`,
    refill(random.below(60)),
    `UPDATE "Shop".${table} SET state = ${state()}, active = NOT active WHERE shelf = ${random.below(4)}`,
    `UPDATE "Shop".${table} SET price = price + 1`,
    `UPDATE "Shop".${table} SET shelf = NULL WHERE ware_id = ${one()}`,
    `DELETE FROM "Shop".${table} WHERE ware_id > ${one()} AND shelf = ${random.below(4)}`,
    `DELETE FROM "Shop".${table} WHERE ware_id = ${one()}`,
    `MERGE INTO "Shop".${table} ware USING (SELECT ${series} AS id, i FROM generate_series(0, 59) i) source ON source.id = ware_id
     WHEN MATCHED AND i % 3 = 0 THEN DELETE WHEN MATCHED AND i % 3 = 1 THEN UPDATE SET state = ${state()}
     WHEN NOT MATCHED AND i % 2 = 0 THEN INSERT (ware_id, state, shelf) VALUES (source.id, 'new', i % 4)`,
    // In the order of the source: a row may be updated after one was inserted.
    `BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
     MERGE INTO "Shop".${table} ware USING (SELECT ${series} AS id, i FROM generate_series(0, 59) i) source ON source.id = ware_id
     WHEN MATCHED THEN UPDATE SET state = ${state()}, shelf = ${random.below(4)}
     WHEN NOT MATCHED THEN INSERT (ware_id, state, shelf) VALUES (source.id, 'new', i % 4); COMMIT`,
    // The triggers of both parts run after both.
    `WITH gone AS (DELETE FROM "Shop".${table} WHERE ware_id = ${one()} RETURNING ware_id)
     INSERT ${into} SELECT ware_id, 'new', true, 1, 1 FROM gone ON CONFLICT DO NOTHING`,
    `UPDATE "Shop".${table} SET ware_id = ${other} WHERE ware_id = ${one()} AND NOT EXISTS (
       SELECT FROM "Shop".${table} other WHERE other.ware_id = ${other})`,
    `BEGIN; ${refill(random.below(60))}; TRUNCATE "Shop".${table}; INSERT ${into} VALUES ${values()}; COMMIT`,
    // Of a partition, and from one to another.
    ...(table === 'wares'
      ? []
      : [
          `UPDATE "Shop".${part} SET state = ${state()}, shelf = ${random.below(4)}`,
          `BEGIN; SET LOCAL enable_hashjoin = off; SET LOCAL enable_mergejoin = off;
           MERGE INTO "Shop".low_wares ware USING (SELECT 970 + i AS id, i FROM generate_series(0, 29) i) source ON source.id = ware_id
           WHEN MATCHED AND i % 4 = 0 THEN DELETE WHEN MATCHED THEN UPDATE SET state = ${state()}, shelf = ${random.below(4)}
           WHEN NOT MATCHED THEN INSERT (ware_id, state, shelf) VALUES (source.id, 'new', i % 4); COMMIT`,
          `DELETE FROM "Shop".${part} WHERE shelf = ${random.below(4)}`,
          `BEGIN; ${refill(0)}; COMMIT; TRUNCATE "Shop".${part}`,
          `UPDATE "Shop".${table} SET ware_id = 2000 - ware_id WHERE shelf = 1 AND NOT EXISTS (
             SELECT FROM "Shop".${table} other WHERE other.ware_id = 2000 - ${table}.ware_id)`,
        ]),
  ];
}

/** Every kind of statement twice, in any order. */
export function* inAnyOrder(random: Random, table: string): Generator<string> {
  for (let round = 0; round < 2; round += 1) {
    const left = ownerWrites(random, table).map((_, kind) => kind);
    while (left.length > 0) {
      const [kind = 0] = left.splice(random.below(left.length), 1);
      yield ownerWrites(random, table)[kind] ?? '';
    }
  }
}
