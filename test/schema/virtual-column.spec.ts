import { expect, it } from '@jest/globals';
import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PrimaryColumn, VirtualColumn } from 'typeorm';
import { differences } from '#server/schema/differences.js';
import { identifierColumn, Resource } from '@catalogue/server';
import { startService } from '../service.js';

@Resource('test_virtual')
class Virtual {
  @PrimaryColumn({ ...identifierColumn, primaryKeyConstraintName: 'test_virtual_pkey' })
  virtualID!: string;

  @VirtualColumn({ type: 'varchar', query: () => 'SELECT name FROM brands LIMIT 1' })
  brandName!: string;
}

@Module({ imports: [TypeOrmModule.forFeature([Virtual])] })
class VirtualModule {}

it('What a resource lacks without its migration is told, and a computed field lacks nothing', async () => {
  const other = await startService({}, VirtualModule);
  try {
    const found = async () =>
      (await differences(other.dataSource)).map(({ text, resource }) => [text, resource]);
    expect(await found()).toEqual([
      [
        expect.stringMatching(/this is lacking: CREATE TABLE "test_virtual" \("virtualID"/),
        'test_virtual',
      ],
    ]);
    await other.dataSource.query(
      `CREATE TABLE test_virtual ("virtualID" varchar(100) COLLATE "C" PRIMARY KEY)`,
    );
    expect(await found()).toEqual([
      [
        'test_virtual has no working trigger test_virtual_deletions_delete, test_virtual_deletions_rename, test_virtual_deletions_truncate',
        'test_virtual',
      ],
      ['test_virtual has no tally', 'test_virtual'],
    ]);
  } finally {
    await other.stop();
  }
});
