import { ReservedConnections } from '#server/database/reserved-connections.js';
import { CountedWords } from '#server/tally/counted-words.js';
import { tallyOf } from '#server/tally/described-tally.js';
import { Product } from '../../src/products/product.entity.js';
import type { Service } from '../service.js';

/** The words of products that the tally counts. */
export function productWords({ application, dataSource }: Service): CountedWords {
  const metadata = dataSource.getMetadata(Product);
  const [tally] = tallyOf(metadata).byWord;
  if (!tally) throw new Error('The words of products are not counted');
  return new CountedWords(application.get(ReservedConnections), metadata, tally);
}
