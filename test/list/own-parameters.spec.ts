import { beforeAll, describe, expect, it } from '@jest/globals';
import { sharedService } from '../service.js';
import { PARTS, PartsModule } from './part.fixture.js';

const service = sharedService({}, PartsModule);

beforeAll(async () => {
  await service.dataSource.query(PARTS);
});

describe('The parameters of conditions in SQL', () => {
  it.each([
    ['that is called like a type in a cast', 'weightText=2', ['b']],
    ['that is a list', 'weightTexts=1,3', ['a', 'c']],
    ['beside the same name in another condition', 'makerName=Acme&makerNameNot=Emca', ['a']],
    ['beside it in any order', 'makerNameNot=Emca&makerName=Acme', ['a']],
    ['beside it where it is a list', 'weightText=2&weightTexts=1,2', ['b']],
    ['beside it in a view', 'makerName=Emca&makerByView=Acme', []],
    ['beside it in an alternative', 'weightOrMaker=M1', ['a']],
    ['in three conditions', 'weightText=1&makerName=Acme&makerByView=Acme', ['a']],
  ])('have values of their own: one %s', async (_, filters, expected) => {
    for (const sort of ['partID', '-weight']) {
      const { body } = await service.get(`/test_parts?${filters}&sort=${sort}`).expect(200);
      const found = body.response_data.objects.map(({ partID }: { partID: string }) => partID);
      expect([found.sort(), body.response_data.count]).toEqual([expected, String(expected.length)]);
      const whole = await service
        .get(`/test_parts?${filters}&sort=${sort}&fields=partID`)
        .set('Accept', 'text/csv')
        .expect(200);
      expect(whole.text.trim().split('\r\n').slice(1).sort()).toEqual(expected);
    }
  });
});
