/** The public API of the service, for the projects that it serves. */
export { createDataSource } from './create-data-source.js';
export { run } from './cli/program.js';
export { Settings } from './settings/settings.js';

// For entities, in addition to the decorators of TypeORM.
export { identifierColumn, nameColumn, timeColumn } from './resource/column-types.js';
export { Meaning } from './resource/declaration.js';
export { NaturalOrder } from './resource/declaration.js';
export { Resource } from './resource/declaration.js';
export type { ScopeClient } from './resource/visibility.js';

// For a migration that removes a resource.
export { checkWithoutObjects } from './database/installed-resource.js';

// For lists.
export { ListModule } from './list/list.module.js';
export { CredentialsQueryDto } from './http/parameters/declared-parameters.js';
export { ListQueryDto, ObjectQueryDto } from './list/query/list-query.dto.js';
export type { Page } from './http/envelope.js';
export { ListReader } from './list/reading/list-reader.js';
export { Returns } from './http/endpoints.js';
export { type Listing, listOf, type ObjectLookup, objectOf } from './list/listing/listing.js';
export {
  BigintParam,
  BigintsParam,
  BooleanParam,
  CurrenciesParam,
  DateParam,
  DateTimeParam,
  DecimalParam,
  EnumParam,
  EnumsParam,
  IdentifierParam,
  IdentifiersParam,
  IntegerParam,
  IntegersParam,
  NumberParam,
  SignedDecimalParam,
  SignedIntegerParam,
  TextParam,
  TextsParam,
  UuidParam,
  UuidsParam,
} from './list/query/parameters.js';
export { WordsParam } from './list/query/search-text.js';
export { QueryOf } from './list/query/query-of.js';
export { containsWords } from './list/condition/words.js';
export { having, related, within } from './list/condition/related.js';
export { children } from './resource/relations.js';
