/** The public API for entities of resources, in addition to the decorators of TypeORM. */
export { identifierColumn, nameColumn, timeColumn } from './column-types.js';
export { Meaning } from './meaning.js';
export { Resource } from './declaration.js';
export type { ScopeClient } from './visibility.js';
