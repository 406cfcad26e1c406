import type { DataSource } from 'typeorm';
import { until } from './until.js';

/**
 * Advances the watermark as often as it is given, as `Maintenance` does every second. A negative margin
 * acts as a clock that is ahead by as much. A call has no effect while a transaction of before the last
 * call runs, in any database of the server: so each one is repeated until it has.
 */
export async function advanceWatermark(
  dataSource: DataSource,
  times: number,
  margin = '1 ms',
): Promise<void> {
  const lastID = async () => {
    const [row] = await dataSource.query<{ id: string | null }[]>(
      'SELECT next_id::text AS id FROM watermark',
    );
    return row?.id;
  };
  for (let calls = 0; calls < times; calls += 1) {
    const before = await lastID();
    await until(async () => {
      await dataSource.query('SELECT advance_watermark($1)', [margin]);
      return (await lastID()) !== before;
    });
  }
}
