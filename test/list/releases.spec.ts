import { type Type } from '@nestjs/common';
import { expect, it } from '@jest/globals';
import { Column, PrimaryColumn } from 'typeorm';
import { identifierColumn, ListQueryDto, nameColumn, QueryOf, Resource } from '@catalogue/server';
import { forgetEntities } from '../realm/entities.mjs';
import { startService } from '../service.js';
import { controllerOf, resourceModule } from './resource-module.js';

const THINGS = `
  CREATE TABLE test_things ("thingID" varchar(100) COLLATE "C" PRIMARY KEY);
  SELECT install_tally('test_things', 'thingID', '{}');
  SELECT install_deletions('test_things', 'thingID');
  INSERT INTO test_things VALUES ('a')`;

/** The things of a release, in which they may have a name. */
function thingsOf(isNamed: boolean): Type {
  @Resource('test_things')
  class Thing {
    @PrimaryColumn(identifierColumn)
    thingID!: string;
  }
  if (isNamed) Column({ ...nameColumn, nullable: true })(Thing.prototype, 'name');

  @QueryOf(Thing)
  class ListThingsDto extends ListQueryDto {}

  return resourceModule([Thing], controllerOf(Thing, { list: ListThingsDto }));
}

it('The list of a release with another field has another entity tag', async () => {
  const before = await startService({}, thingsOf(false));
  await before.dataSource.query(THINGS);
  const { headers } = await before.get('/test_things').expect(200);
  const etag = headers.etag ?? '';
  await before.get('/test_things').set('If-None-Match', etag).expect(304);
  await before.dataSource.query('ALTER TABLE test_things ADD COLUMN name varchar(300)');
  // The next one creates it again.
  await before.dataSource.query('DELETE FROM clients');
  await before.application.close();
  forgetEntities();
  const after = await startService({ DATABASE_URL: before.database.url }, thingsOf(true));
  const { body } = await after.get('/test_things').set('If-None-Match', etag).expect(200);
  expect(body.response_data.objects).toEqual([{ thingID: 'a', name: null }]);
  await after.stop();
  await before.database.drop();
});
