import { type DynamicModule, Module, type Type } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { capabilitiesOf } from '../resource/capabilities.js';
import { resourceName } from '../resource/resource.js';
import { Settings } from '../settings/settings.js';
import { DeclarationCheck } from './declaration/declaration-check.js';
import { Dependencies } from './reading/dependencies.js';
import { deletionOf } from './deletions/deletion.js';
import { deletionsController } from './deletions/deletions.controller.js';
import { facetsController } from './facets/facets.controller.js';
import { facetFieldsOf } from './facets/facets-query.dto.js';
import { FacetReader } from './facets/facet-reader.js';
import { KnownLists } from './statement/known-lists.js';
import { ListReader } from './reading/list-reader.js';
import { LoadingResources } from './reading/loading-resources.js';
import { ObjectReader } from './reading/object-reader.js';
import { PageReader } from './reading/page-reader.js';
import { PageCache } from './serving/page-cache.js';
import { PageServer } from './serving/page-server.js';
import { ReadLimit } from './serving/read-limit.js';
import { StreamLimit } from './serving/stream-limit.js';
import { StreamServer } from './serving/stream-server.js';
import { PreparedStatements } from './statement/prepared-statements.js';
import { Maintenance } from './maintenance.js';
import { UnscopedReads } from './reading/unscoped-reads.js';
import { Versions } from './reading/versions.js';
import { WithheldLists } from './reading/withheld-lists.js';

/** Milliseconds after which a whole list is aborted if its reader reads nothing. */
const STALL_TIMEOUT = 60_000;

/** Maximum number of connections for whole lists, and for one client's reads of one resource. */
function halfOfPool({ poolSize }: Settings): number {
  return Math.ceil(poolSize / 2);
}

const providers = [
  DeclarationCheck,
  Dependencies,
  FacetReader,
  KnownLists,
  ListReader,
  LoadingResources,
  ObjectReader,
  PageReader,
  PageServer,
  PreparedStatements,
  StreamServer,
  Maintenance,
  UnscopedReads,
  Versions,
  WithheldLists,
  {
    provide: PageCache,
    inject: [Settings],
    useFactory: ({ pageCache }: Settings) => new PageCache(pageCache),
  },
  {
    provide: ReadLimit,
    inject: [Settings],
    useFactory: (settings: Settings) => {
      const ofResource = halfOfPool(settings);
      const spared = ofResource + 1 < settings.poolSize ? 1 : 0;
      return new ReadLimit({ ofResource, ofClient: ofResource + spared });
    },
  },
  {
    provide: StreamLimit,
    inject: [Settings],
    useFactory: (settings: Settings) =>
      new StreamLimit({
        total: halfOfPool(settings),
        perClient: settings.maxStreamsPerClient,
        timeout: settings.streamTimeout,
        stallTimeout: STALL_TIMEOUT,
      }),
  },
];

/** Lists of resources. */
@Module({})
export class ListModule {
  /** The providers that read and serve lists. */
  static forRoot(): DynamicModule {
    return { module: ListModule, global: true, providers, exports: providers };
  }

  /**
   * The repository of a resource's entity, the list of its deletions, and its facet counts if it has counted
   * columns. Of a table of others there are both only if it is tracked.
   *
   * @throws TypeError if it has, and there is no query class of its list yet
   */
  static forFeature(entity: Type): DynamicModule {
    const { counts, changes } = capabilitiesOf({ target: entity });
    const deletions = changes ? [deletionOf(entity)] : [];
    const fields = counts ? facetFieldsOf(entity) : [];
    return {
      module: ListModule,
      imports: [TypeOrmModule.forFeature([entity, ...deletions.map((each) => each.entity)])],
      controllers: [
        ...deletions.map(deletionsController),
        ...(fields.length > 0 ? [facetsController(entity, resourceName(entity), fields)] : []),
      ],
      exports: [TypeOrmModule],
    };
  }
}
