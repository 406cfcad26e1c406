import { filtersOf, parametersOf } from './document.js';
import type { Paths } from './resources.js';

/** What a model does next where nothing matches its filters; nothing if it sent none. */
export function hintFor(
  sent: readonly string[],
  { name, identifier, list, facets }: Paths,
  resources: readonly Paths[],
): string | undefined {
  const filters = filtersOf(list).filter(({ name }) => sent.includes(name));
  if (filters.length === 0) return undefined;
  const isFiltered = (field: string): boolean => filters.some((each) => isOn(each.name, field));
  const names = facets && parametersOf(facets).find((each) => each.name === 'facets');
  // Whether there is a value is no value to find.
  const counted = (names?.schema.items?.enum ?? []).filter(
    (field) => isFiltered(field) && !field.endsWith('Exists'),
  );
  const referred = resources.filter(
    (each) => each.identifier !== identifier && isFiltered(each.identifier),
  );
  const lookups = [
    ...(counted.length > 0 ? [`count_${name} with facets ${JSON.stringify(counted)}`] : []),
    ...referred.map((each) => `search_${each.name}`),
  ];
  const found = `No ${name} match ${filters.map((each) => each.name).join(', ')}.`;
  return lookups.length === 0
    ? `${found} Leave out a filter, or shorten its value.`
    : `${found} Values must be exact, and identifiers are not names: find them by ${lookups.join(' or ')}.`;
}

/** Whether the name of a filter is that of a field, or begins with it: `brandIDNot`. */
function isOn(filter: string, field: string): boolean {
  return filter.startsWith(field) && /^([A-Z]|$)/.test(filter.slice(field.length));
}
