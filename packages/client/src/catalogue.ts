import { Resources } from './generated.js';
import { type CatalogueOptions, Transport } from './transport.js';

/** A client of the catalogue service. It has a property for each resource. */
export class Catalogue extends Resources {
  constructor(options: CatalogueOptions) {
    super(new Transport(options));
  }
}
