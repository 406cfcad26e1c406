import type { Service } from './service.js';

export const LINES = { Accept: 'application/x-ndjson' };

/** What a client is told by `/changes` of the deletions of a resource since a time: the identifiers, in their order. */
export async function deletedSince(
  service: Service,
  resource: string,
  since: string,
): Promise<unknown[]> {
  const path = `/changes?resources=${resource}&since=${since}`;
  const { text } = await service.get(path).set(LINES).buffer(true).expect(200);
  return deletedIn(text);
}

/** The identifiers of the objects that are deleted by lines of `/changes`. */
export function deletedIn(lines: string): unknown[] {
  const changes = lines.split('\n').filter((line) => line !== '');
  return changes
    .map((line) => JSON.parse(line) as { readonly deleted?: unknown })
    .flatMap((change) => ('deleted' in change ? [change.deleted] : []));
}
