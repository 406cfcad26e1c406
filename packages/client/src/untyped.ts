import { Resource } from './resource.js';

export { Transport } from './transport.js';

type Query = Readonly<Record<string, unknown>> & {
  readonly fields?: readonly string[];
  readonly include?: readonly string[];
};

/** A resource that the generated types do not know: its fields and parameters are of any name. */
export class UntypedResource extends Resource<{
  identifier: string;
  object: Readonly<Record<string, unknown>>;
  query: Query;
  objectQuery: Query;
  deletion: Readonly<Record<string, unknown>>;
  deletionQuery: Query;
  facetQuery: Query & { readonly facets?: readonly string[] };
}> {}
