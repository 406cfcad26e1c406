import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { hasOwnTable } from '../resource/resource.js';
import { ChangesController } from './changes/changes.controller.js';
import { ChangesReader } from './changes/changes-reader.js';
import { ChangeWait } from './serving/conditional.js';
import { deletionOf } from './deletions/deletions.js';
import { FacetReader } from './facets/facet-reader.js';
import { KnownLists } from './statement/known-lists.js';
import { ListReader } from './reading/list-reader.js';
import { ListSources } from './reading/list-sources.js';
import { UnavailableResources } from './reading/unavailable-resources.js';
import { ObjectReader } from './reading/object-reader.js';
import { PageCache, PageServer } from './serving/page-server.js';
import { ReadLimit, StreamLimit } from './serving/read-limit.js';
import { StreamServer } from './serving/stream-server.js';
import { PreparedStatements } from './statement/prepared-statements.js';
import { Maintenance } from './maintenance.js';
import { Versions } from './reading/versions.js';

const providers = [
  ChangesReader,
  ChangeWait,
  FacetReader,
  KnownLists,
  ListReader,
  ListSources,
  ObjectReader,
  PageCache,
  PageServer,
  PreparedStatements,
  ReadLimit,
  StreamLimit,
  StreamServer,
  Maintenance,
  UnavailableResources,
  Versions,
];

/** Lists of resources. */
@Module({})
export class ListModule {
  /** The providers that read and serve lists. */
  static forRoot(): DynamicModule {
    return {
      module: ListModule,
      global: true,
      controllers: [ChangesController],
      providers,
      exports: providers,
    };
  }

  /** The repositories of a resource's entity and of its deletions. Of an external table there are no deletions. */
  static forFeature(entity: Type): DynamicModule {
    const deletions = hasOwnTable({ target: entity }) ? [deletionOf(entity)] : [];
    return {
      module: ListModule,
      imports: [TypeOrmModule.forFeature([entity, ...deletions])],
      exports: [TypeOrmModule],
    };
  }
}
