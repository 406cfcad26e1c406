/** The public API of lists, for the modules of resources. */
export { ListModule } from './list.module.js';
export { CredentialsQueryDto } from '../http/parameters/credentials-query.dto.js';
export { ListQueryDto, ObjectQueryDto } from './query/list-query.dto.js';
export type { Page } from '../http/envelope.js';
export { ListReader } from './reading/list-reader.js';
export { Returns } from '../http/endpoints.js';
export { type Listing, listOf, type ObjectLookup, objectOf } from './listing/listing.js';
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
} from './query/parameters.js';
export { WordsParam } from './query/words-parameter.js';
export { QueryOf } from './query/query-of.js';
export { containsWords } from './condition/words.js';
export { having, related, within } from './condition/related.js';
export { children } from '../resource/children.js';
