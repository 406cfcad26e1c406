/** The public API of lists, for the modules of resources. */
export { ListModule } from './list.module.js';
export { ListQueryDto, ObjectQueryDto } from './list-query.dto.js';
export type { Page } from '../http/envelope.js';
export { type Listing, listOf } from './listing.js';
export { type ObjectLookup, objectOf } from './object-lookup.js';
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
} from './parameters.js';
export { WordsParam } from './words-parameter.js';
export { QueryOf } from './query-of.js';
export { containsWords } from './contains-words.js';
export { path } from './path.js';
export { related } from './related-to.js';
export { within } from './subtrees.js';
