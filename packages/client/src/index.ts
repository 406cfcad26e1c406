export { CatalogueConnectionError, CatalogueError } from './envelope.js';
export type { List, Page } from './list.js';
export {
  Mirror,
  type MirrorFields,
  type MirrorOptions,
  type MirrorStatus,
  type MirrorStore,
  type MirrorStores,
} from './mirror.js';
export { type FacetCount, type Facets, Resource, type ResourceTypes } from './resource.js';
export type { ObjectStream, OpenedStream } from './stream.js';
export { type CallOptions, type CatalogueOptions, Transport } from './transport.js';
