import { ReservedConnections } from '../../src/database/reserved-connections.js';
import { CountedWords } from '../../src/tally/counted-words.js';
import { wordTallies } from '../../src/tally/word-tally.js';
import { Product } from '../../src/products/product.entity.js';
import type { Service } from '../service.js';

/** The words of products that the tally counts. */
export function productWords({ application, dataSource }: Service): CountedWords {
  const metadata = dataSource.getMetadata(Product);
  const [tally] = wordTallies(metadata);
  if (!tally) throw new Error('The words of products are not counted');
  return new CountedWords(application.get(ReservedConnections), metadata, tally);
}
