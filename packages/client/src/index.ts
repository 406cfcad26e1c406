export { Catalogue } from './catalogue.js';
export { CatalogueConnectionError, CatalogueError } from './errors.js';
export type * from './generated.js';
export type { List, Page } from './list.js';
export type { MirrorStore } from './mirror.js';
export type { FacetCount, Facets, Resource } from './resource.js';
export type { ObjectStream, OpenedStream } from './stream.js';
export type { CallOptions, CatalogueOptions } from './transport.js';
