import type { CatalogueOptions } from '@catalogue/client';
import type { Service } from '../service.js';
import { Catalogue } from './catalogue.js';

/** A client of a service of a test. */
export function clientOf(
  { port, clientID, token }: Service,
  options: Partial<CatalogueOptions> = {},
): Catalogue {
  const url = `http://127.0.0.1:${port}`;
  return new Catalogue({ url, clientID, accessToken: token, ...options });
}
