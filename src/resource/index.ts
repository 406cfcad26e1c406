/** What the entity of a resource is made of, beside the decorators of TypeORM. */
export { identifierColumn, nameColumn, timeColumn } from './columns.js';
export { Meaning } from './meaning.js';
export { Resource } from './resource.js';
