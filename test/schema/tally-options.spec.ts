import { expect, it } from '@jest/globals';
import { TALLY_OPTIONS } from '#server/schema/parts/tally.js';
import { sharedService } from '../service.js';

const service = sharedService();

it('The options of a tally are the arguments of install_tally and columns of tallies, in this order', async () => {
  const [found] = await service.dataSource.query<{ names: string[]; columns: string[] }[]>(
    `SELECT proargnames[3:] AS names, ARRAY(
       SELECT attname::text FROM pg_attribute
       WHERE attrelid = 'tallies'::regclass AND attname::text = ANY(proargnames[3:]) ORDER BY attnum
     ) AS columns
     FROM pg_proc WHERE proname = 'install_tally'`,
  );
  const options = Object.keys(TALLY_OPTIONS);
  // Behind the arguments come the variables of the function.
  expect(found?.names.slice(0, options.length)).toEqual(options);
  expect(found?.columns).toEqual(options);
});
