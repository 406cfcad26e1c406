import type { EntityMetadata } from 'typeorm';
import { identifierFrom, isTextIdentifier } from '../../resource/identifiers.js';
import { columnOf } from '../../resource/resource.js';
import { type SearchText, searchText } from '../query/search-text.js';
import { type Written, written } from './from-typeorm.js';

/** What a condition of `containsWords` searches for. */
export interface WordSearch extends SearchText {
  /** The columns of which one may equal the whole text: those whose type has it. */
  readonly identifiers: readonly Identifying[];
}

/** A column, and its SQL type. */
interface Identifying {
  readonly name: string;
  readonly type: string;
}

/**
 * A condition on the column `words` of a resource: it contains all words of a text, in any order, whatever
 * their case and accents. A word that ends in `*` is the beginning of one. A repeated word is searched once,
 * because the cost of a search grows with its words.
 *
 * @param identifiers columns with an index. An object also matches if one of them equals the whole text.
 */
export function containsWords(text: string, identifiers: readonly string[] = []): Written<string> {
  const search = searchText(text);
  return written('containsWords', (column, metadata) => ({
    kind: 'words',
    column,
    search: {
      ...search,
      identifiers: identifiers.flatMap((name) => identifying(metadata, name, text)),
    },
  }));
}

function identifying(metadata: EntityMetadata, name: string, text: string): Identifying[] {
  const { type } = columnOf(metadata, name);
  if (isTextIdentifier(type)) return [{ name, type: 'text' }];
  // No object has the text for its number.
  return identifierFrom(type, text) === undefined ? [] : [{ name, type: String(type) }];
}
