/** What the generator of resources takes from the service: its types of columns and filters, its names, and its reader of files. */
export { CommandError } from './command-error.js';
export { EMPTY_QUOTES } from './import/csv-reader.js';
export { formatNamed, rowsOf } from './import/file-rows.js';
export { InvalidRowsError } from './import/invalid-rows.js';
export { openSource, textOf } from './import/source.js';
export {
  COLUMN_TYPES,
  type ColumnTypeName,
  IDENTIFIER_TYPES,
  identifierColumn,
  identifierFacts,
  isArrayType,
  nameColumn,
  timeType,
} from './resource/column-types.js';
export { FILTER_FLAGS, type Flag, FLAGGED, flagsOf } from './resource/filter-forms.js';
export { isDouble, isSameNumber, JsonText, readJson } from './resource/json-text.js';
export { METADATA_TABLE, takenBy } from './resource/reserved-names.js';
